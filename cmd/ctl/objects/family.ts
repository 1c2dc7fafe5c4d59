import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { Cluster } from '../cluster.ts';
import { type BundleReport, bundleReports } from '../status/bundle-report.ts';
import { type DeploymentRequest, readDeployment } from '../status/deployment-reading.ts';
import type { ObjectReport } from '../status/object-report.ts';
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

/** @throws ApiError, also where there is no such deployment. */
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
