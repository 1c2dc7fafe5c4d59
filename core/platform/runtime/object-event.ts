import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { KubernetesObject } from '../../../api/meta.ts';
import { metaTime } from '../clock.ts';
import type { Resource } from '../kube/index.ts';

export interface EventText {
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase. */
  readonly reason: string;
  /** Cut at 1024 bytes. */
  readonly message: string;
  /** The action that was taken. */
  readonly action?: string;
}

/** The fields of a core/v1 Event that are read back. */
export interface ObjectEvent extends KubernetesObject {
  readonly count?: number;
}

/** Where the API server serves events. */
export const eventResource: Resource = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

const maxMessageBytes = 1024;

interface NewEvent {
  readonly regarding: KubernetesObject;
  readonly text: EventText;
  readonly component: string;
  readonly now: number;
}

/** Events with the same key are repetitions. */
export function eventKey({ kind, metadata }: KubernetesObject, text: EventText): string {
  const { namespace, name, uid } = metadata;
  return JSON.stringify([kind, namespace, name, uid, text.type, text.reason, text.message]);
}

export function newEvent({ regarding, text, component, now }: NewEvent): ObjectEvent {
  const { name = '', namespace, uid, resourceVersion } = regarding.metadata;
  const time = metaTime(now);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    // Events of cluster-scoped objects are in namespace default, where kubectl reads them.
    metadata: { name: eventName(name), namespace: namespace ?? 'default' },
    involvedObject: {
      apiVersion: regarding.apiVersion,
      kind: regarding.kind,
      name,
      namespace,
      uid,
      resourceVersion,
    },
    type: text.type,
    reason: text.reason,
    message: cutBytes(text.message, maxMessageBytes),
    action: text.action,
    count: 1,
    firstTimestamp: time,
    lastTimestamp: time,
    source: { component },
    reportingComponent: component,
    reportingInstance: hostname(),
  };
}

export function repeatPatch({ count = 1 }: ObjectEvent, now: number): object {
  return { count: count + 1, lastTimestamp: metaTime(now) };
}

/** An object's name may be longer than an Event's, or have other characters. */
function eventName(objectName: string): string {
  const stem = objectName
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .slice(0, 200)
    .replaceAll(/^-+|-+$/g, '');
  return `${stem === '' ? 'event' : stem}.${randomBytes(8).toString('hex')}`;
}

function cutBytes(text: string, limit: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= limit) return text;
  const ellipsis = '…';
  const cut = bytes.subarray(0, limit - Buffer.byteLength(ellipsis)).toString('utf8');
  // A character that was cut in half becomes the replacement character.
  return `${cut.replace(/\uFFFD+$/, '')}${ellipsis}`;
}
