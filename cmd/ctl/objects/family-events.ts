import { integerAt, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { listAll, type Resource } from '../../../core/platform/kube/index.ts';
import type { Cluster } from '../cluster.ts';
import type { DeploymentRequest } from '../status/status-report.ts';
import { age } from '../terminal/text.ts';
import { familyOf } from './family.ts';

const eventResource: Resource = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

/** Namespace of the Events of cluster-scoped objects. */
const clusterScoped = 'default';

export interface ShownEvent {
  readonly uid: string;
  /** RFC 3339. */
  readonly lastSeen: string;
  readonly count: number;
  readonly type: string;
  readonly reason: string;
  readonly object: { readonly kind: string; readonly namespace?: string; readonly name: string };
  readonly message: string;
}

export const eventHeadings = ['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'] as const;

/** All Events of a deployment, its Bundles, its objects and their dependents; oldest first. */
export async function eventsOf(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  request: DeploymentRequest,
): Promise<readonly ShownEvent[]> {
  const { client } = cluster;
  const { namespace, signal } = request;
  const { uids, objects } = await familyOf(cluster, request);
  const places = objects.flatMap((object) => object.namespace ?? []);
  const found: ShownEvent[] = [];
  for (const place of new Set([clusterScoped, ...places])) {
    await listAll(client, eventResource, {
      namespace: place,
      signal,
      transform: (event) => {
        const regarding = event['involvedObject'];
        if (!uids.has(stringAt(regarding, 'uid') ?? '')) return;
        if (namespace !== undefined && stringAt(regarding, 'namespace') !== namespace) return;
        found.push(shownEvent(event));
      },
    });
  }
  return found.toSorted((a, b) => Date.parse(a.lastSeen) - Date.parse(b.lastSeen));
}

function shownEvent(event: KubernetesObject): ShownEvent {
  return {
    uid: event.metadata.uid ?? '',
    lastSeen: lastSeenOf(event),
    count: countOf(event),
    type: textAt(event, 'type'),
    reason: textAt(event, 'reason'),
    object: objectOf(event['involvedObject']),
    message: textAt(event, 'message'),
  };
}

function objectOf(regarding: unknown): ShownEvent['object'] {
  const namespace = stringAt(regarding, 'namespace');
  const place = namespace === undefined ? {} : { namespace };
  return { kind: textAt(regarding, 'kind'), ...place, name: textAt(regarding, 'name') };
}

/** The two APIs for Events have different fields. */
function countOf(event: KubernetesObject): number {
  return integerAt(event, 'series', 'count') ?? integerAt(event, 'count') ?? 1;
}

function lastSeenOf(event: KubernetesObject): string {
  return (
    stringAt(event, 'series', 'lastObservedTime') ??
    stringAt(event, 'lastTimestamp') ??
    stringAt(event, 'eventTime') ??
    event.metadata.creationTimestamp ??
    ''
  );
}

function textAt(value: unknown, field: string): string {
  return stringAt(value, field) ?? '';
}

/** `now` is in milliseconds. */
export function eventRow(event: ShownEvent, now: number): readonly string[] {
  const { lastSeen, count, type, reason, object, message } = event;
  const often = count > 1 ? ` (x${count})` : '';
  return [
    `${age(now - Date.parse(lastSeen))}${often}`,
    type,
    reason,
    `${object.kind}/${object.name}`,
    message,
  ];
}
