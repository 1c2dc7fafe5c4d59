import type { KubernetesObject } from '../../../api/meta.ts';
import {
  ApiError,
  apiVersionOf,
  type KubeClient,
  listAll,
  type Resource,
} from '../../../core/platform/kube/index.ts';

const apps = { group: 'apps', version: 'v1', namespaced: true } as const;
const batch = { group: 'batch', version: 'v1', namespaced: true } as const;

/** What controllers make of other objects, down to Pods. */
const madeKinds: readonly Resource[] = [
  { ...apps, kind: 'Deployment', plural: 'deployments' },
  { ...apps, kind: 'StatefulSet', plural: 'statefulsets' },
  { ...apps, kind: 'DaemonSet', plural: 'daemonsets' },
  { ...apps, kind: 'ReplicaSet', plural: 'replicasets' },
  { ...batch, kind: 'CronJob', plural: 'cronjobs' },
  { ...batch, kind: 'Job', plural: 'jobs' },
  { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
];

export interface Descendants {
  /** By the UID of the owner. */
  readonly madeBy: ReadonlyMap<string, readonly KubernetesObject[]>;
  /** `Kind.group` of what the user may not list. */
  readonly hidden: readonly string[];
}

/** What the objects of some namespaces were made for, by their owner references. */
export async function descendantsIn(
  client: Pick<KubeClient, 'list'>,
  namespaces: Iterable<string>,
  signal: AbortSignal,
): Promise<Descendants> {
  const madeBy = new Map<string, KubernetesObject[]>();
  const hidden = new Set<string>();
  for (const namespace of new Set(namespaces)) {
    await Promise.all(
      madeKinds.map(async (resource) => {
        try {
          const transform = (object: KubernetesObject): void => addTo(madeBy, resource, object);
          await listAll(client, resource, { namespace, signal, transform });
        } catch (error) {
          if (!(error instanceof ApiError) || error.code !== 403) throw error;
          hidden.add(resource.group === '' ? resource.kind : `${resource.kind}.${resource.group}`);
        }
      }),
    );
  }
  for (const made of madeBy.values()) made.sort(byName);
  return { madeBy, hidden: [...hidden].sort() };
}

function addTo(
  madeBy: Map<string, KubernetesObject[]>,
  resource: Resource,
  { metadata, spec, status }: KubernetesObject,
): void {
  const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
  if (owner === undefined) return;
  const { managedFields: _, ...kept } = metadata as typeof metadata & { managedFields?: unknown };
  const object = { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: kept };
  madeBy.set(owner.uid, [...(madeBy.get(owner.uid) ?? []), { ...object, spec, status }]);
}

function byName(one: KubernetesObject, other: KubernetesObject): number {
  return (one.metadata.name ?? '').localeCompare(other.metadata.name ?? '', 'en');
}
