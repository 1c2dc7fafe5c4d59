import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { generatedFor } from '../../../api/v1alpha1/generated-bundle.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource, bundleResource } from '../../../api/v1alpha1/resources.ts';
import { listAll } from '../../../core/kube/list-all.ts';
import type { Cluster } from '../cluster.ts';
import { ownedObjects } from '../owned-objects.ts';
import { type BundleReport, bundleReports } from './bundle-report.ts';
import { customStatuses } from './custom-statuses.ts';
import { isHealthy, type ObjectReport, objectReports } from './object-report.ts';

/** Everything about one deployment. */
export interface StatusReport {
  readonly name: string;
  readonly deployment: BundleDeployment;
  readonly bundles: readonly BundleReport[];
  readonly objects: {
    /** Those of hooks not among them. */
    readonly total: number;
    readonly healthy: number;
    readonly items: readonly ObjectReport[];
    /** `Kind.group` of what the user may not list. */
    readonly hidden: readonly string[];
  };
}

export interface StatusRequest {
  readonly name: string;
  readonly systemNamespace: string;
  /** Objects of all namespaces, and of none, where absent. */
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
}

/** @throws ApiError, also where there is no such deployment. */
export async function statusReport(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  { name, systemNamespace, namespace, signal }: StatusRequest,
): Promise<StatusReport> {
  const { client } = cluster;
  const live = await client.get(bundleDeploymentResource, { name }, signal);
  const deployment = live as BundleDeployment;
  const { items: bundles } = await listAll(client, bundleResource, {
    labelSelector: `${label.ownerKind}=${bundleDeploymentResource.kind},${label.ownerName}=${name}`,
    transform: (bundle) => bundle as Bundle,
    signal,
  });
  const owned = await ownedObjects(cluster, { owner: deployment, systemNamespace, signal });
  const entries = owned.inventory
    .ownedBy(name)
    .filter(({ key }) => namespace === undefined || key.namespace === namespace);
  const custom = await customStatuses({ deployment, entries, signal });
  const items = objectReports(entries, custom, Date.now());
  const kept = items.filter(({ hook }) => hook === undefined);
  return {
    name,
    deployment,
    bundles: bundleReports(
      deployment,
      bundles.filter((bundle) => generatedFor(bundle) === name),
    ),
    objects: {
      total: kept.length,
      healthy: kept.filter(isHealthy).length,
      items,
      hidden: owned.hidden,
    },
  };
}
