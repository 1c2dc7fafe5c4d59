import { apiVersionOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  isForbidden,
  type KubeClient,
  listAll,
  type Resource,
} from '../../../core/platform/kube/index.ts';
import type { Cluster } from '../cluster.ts';
import { type BundleReport, bundleReports } from '../status/bundle-report.ts';
import type { ObjectReport } from '../status/object-report.ts';
import { type DeploymentRequest, readDeployment } from '../status/status-report.ts';

/** A deployment with everything that exists because of it. */
export interface Family {
  readonly deployment: BundleDeployment;
  readonly bundles: readonly BundleReport[];
  readonly objects: readonly FamilyObject[];
  readonly descendants: Descendants;
  /** `Kind.group` of kinds that the user may not list. */
  readonly hidden: readonly string[];
  /** UIDs of the deployment, its Bundles, its objects and their dependents. */
  readonly uids: ReadonlySet<string>;
}

export interface FamilyObject extends ObjectReport {
  readonly uid: string;
}

/** @throws ApiError, also when there is no such deployment. */
export async function familyOf(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  request: DeploymentRequest,
): Promise<Family> {
  const reading = await readDeployment(cluster, request);
  const { deployment, bundles } = reading;
  const uids = new Map(
    reading.entries.map(({ object: { kind, metadata } }) => [
      pathOf(kind, metadata),
      metadata.uid ?? '',
    ]),
  );
  const objects = reading.objects.map((report) => ({
    ...report,
    uid: uids.get(pathOf(report.kind, report)) ?? '',
  }));
  const places = objects.flatMap((object) => object.namespace ?? []);
  const descendants = await descendantsIn(cluster.client, places, request.signal);
  const roots = [deployment, ...bundles].map(({ metadata }) => metadata.uid ?? '');
  return {
    deployment,
    bundles: bundleReports(deployment, bundles),
    objects,
    descendants,
    hidden: [...new Set([...reading.hidden, ...descendants.hidden])],
    uids: new Set([...roots, ...made(objects, descendants.madeBy)]),
  };
}

function pathOf(
  kind: string,
  { namespace = '', name = '' }: Pick<KubernetesObject['metadata'], 'namespace' | 'name'>,
): string {
  return `${kind}/${namespace}/${name}`;
}

/** UIDs of objects, and of all their dependents. */
function made(
  objects: readonly FamilyObject[],
  madeBy: Descendants['madeBy'],
): ReadonlySet<string> {
  const found = new Set(objects.map(({ uid }) => uid));
  // The loop also visits the UIDs that it adds.
  for (const uid of found) {
    for (const { metadata } of madeBy.get(uid) ?? []) found.add(metadata.uid ?? '');
  }
  return found;
}

const apps = { group: 'apps', version: 'v1', namespaced: true } as const;
const batch = { group: 'batch', version: 'v1', namespaced: true } as const;

/** Kinds that controllers create for other objects, down to Pods. */
const madeKinds: readonly Resource[] = [
  { ...apps, kind: 'Deployment', plural: 'deployments' },
  { ...apps, kind: 'StatefulSet', plural: 'statefulsets' },
  { ...apps, kind: 'DaemonSet', plural: 'daemonsets' },
  { ...apps, kind: 'ReplicaSet', plural: 'replicasets' },
  { ...batch, kind: 'CronJob', plural: 'cronjobs' },
  { ...batch, kind: 'Job', plural: 'jobs' },
  { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
];

interface Descendants {
  /** By the UID of the owner. */
  readonly madeBy: ReadonlyMap<string, readonly KubernetesObject[]>;
  /** `Kind.group` of kinds that the user may not list. */
  readonly hidden: readonly string[];
}

/** The objects of some namespaces by their owner. */
async function descendantsIn(
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
          if (!isForbidden(error)) throw error;
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
