import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { generatedFor } from '../../../api/v1alpha1/generated-bundle.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { listAll } from '../../../core/kube/list-all.ts';
import type { Cluster } from '../cluster.ts';
import { ownedObjects } from '../owned-objects.ts';
import { type BundleReport, bundleReports } from '../status/bundle-report.ts';
import { customStatuses } from '../status/custom-statuses.ts';
import { type ObjectReport, objectReports } from '../status/object-report.ts';
import { type Descendants, descendantsIn } from './descendants.ts';

/** A deployment with all that there is because of it. */
export interface Family {
  readonly deployment: BundleDeployment;
  readonly bundles: readonly BundleReport[];
  readonly objects: readonly FamilyObject[];
  readonly descendants: Descendants;
  /** `Kind.group` of what the user may not list. */
  readonly hidden: readonly string[];
  /** Of the deployment, its Bundles, its objects and what was made for these. */
  readonly uids: ReadonlySet<string>;
}

export interface FamilyObject extends ObjectReport {
  readonly uid: string;
}

export interface FamilyRequest {
  readonly name: string;
  readonly systemNamespace: string;
  /** All namespaces where absent. */
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
}

/** @throws ApiError, also where there is no such deployment. */
export async function familyOf(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  { name, systemNamespace, namespace, signal }: FamilyRequest,
): Promise<Family> {
  const { client } = cluster;
  const live = await client.get(bundleDeploymentResource, { name }, signal);
  const deployment = live as BundleDeployment;
  const bundles = await bundlesOf(client, name, signal);
  const owned = await ownedObjects(cluster, { owner: deployment, systemNamespace, signal });
  const entries = owned.inventory
    .ownedBy(name)
    .filter(({ key }) => namespace === undefined || key.namespace === namespace);
  const uids = new Map(
    entries.map(({ object: { kind, metadata } }) => [pathOf(kind, metadata), metadata.uid ?? '']),
  );
  const custom = await customStatuses({ deployment, entries, signal });
  const objects = objectReports(entries, custom, Date.now()).map((report) => ({
    ...report,
    uid: uids.get(pathOf(report.kind, report)) ?? '',
  }));
  const places = objects.flatMap((object) => object.namespace ?? []);
  const descendants = await descendantsIn(client, places, signal);
  const roots = [live, ...bundles].map(({ metadata }) => metadata.uid ?? '');
  return {
    deployment,
    bundles: bundleReports(deployment, bundles),
    objects,
    descendants,
    hidden: [...new Set([...owned.hidden, ...descendants.hidden])],
    uids: new Set([...roots, ...made(objects, descendants.madeBy)]),
  };
}

async function bundlesOf(
  client: Cluster['client'],
  name: string,
  signal: AbortSignal,
): Promise<readonly Bundle[]> {
  const { items } = await listAll(client, bundleResource, {
    labelSelector: `${label.ownerKind}=${bundleDeploymentResource.kind},${label.ownerName}=${name}`,
    transform: (bundle) => bundle as Bundle,
    signal,
  });
  return items.filter((bundle) => generatedFor(bundle) === name);
}

function pathOf(
  kind: string,
  { namespace = '', name = '' }: Pick<KubernetesObject['metadata'], 'namespace' | 'name'>,
): string {
  return `${kind}/${namespace}/${name}`;
}

/** UIDs of objects, and of all that was made for them. */
function made(
  objects: readonly FamilyObject[],
  madeBy: Descendants['madeBy'],
): ReadonlySet<string> {
  const found = new Set(objects.map(({ uid }) => uid));
  // What is added on the way is visited too.
  for (const uid of found) {
    for (const { metadata } of madeBy.get(uid) ?? []) found.add(metadata.uid ?? '');
  }
  return found;
}
