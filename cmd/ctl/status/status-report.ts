import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { InventoryEntry } from '../../../core/apply/index.ts';
import type { Cluster } from '../cluster.ts';
import { bundlesOf } from '../deployments/own-bundles.ts';
import { ownedObjects } from '../objects/owned-objects.ts';
import { type BundleReport, bundleReports } from './bundle-report.ts';
import { customStatuses, isHealthy, type ObjectReport, objectReports } from './object-report.ts';

/** Everything about one deployment. */
export interface StatusReport {
  readonly name: string;
  readonly systemNamespace: string;
  readonly deployment: BundleDeployment;
  readonly bundles: readonly BundleReport[];
  readonly objects: {
    /** Without objects of hooks. */
    readonly total: number;
    readonly healthy: number;
    readonly items: readonly ObjectReport[];
    /** `Kind.group` of kinds that the user may not list. */
    readonly hidden: readonly string[];
  };
}

/** @throws ApiError, also when there is no such deployment. */
export async function statusReport(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  request: DeploymentRequest,
): Promise<StatusReport> {
  const { deployment, bundles, objects, hidden } = await readDeployment(cluster, request);
  const kept = objects.filter(({ hook }) => hook === undefined);
  return {
    name: request.name,
    systemNamespace: request.systemNamespace,
    deployment,
    bundles: bundleReports(deployment, bundles),
    objects: {
      total: kept.length,
      healthy: kept.filter(isHealthy).length,
      items: objects,
      hidden,
    },
  };
}

export interface DeploymentRequest {
  readonly name: string;
  readonly systemNamespace: string;
  /** Default: objects of all namespaces, and cluster-scoped ones. */
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
}

/** A deployment with its Bundles and live objects. */
interface DeploymentReading {
  readonly deployment: BundleDeployment;
  readonly bundles: readonly Bundle[];
  readonly entries: readonly InventoryEntry[];
  /** The objects of `entries`, in the order of installation. */
  readonly objects: readonly ObjectReport[];
  /** `Kind.group` of kinds that the user may not list. */
  readonly hidden: readonly string[];
}

/** @throws ApiError, also when there is no such deployment. */
export async function readDeployment(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  { name, systemNamespace, namespace, signal }: DeploymentRequest,
): Promise<DeploymentReading> {
  const { client } = cluster;
  const live = await client.get(bundleDeploymentResource, { name }, signal);
  const deployment = live as BundleDeployment;
  const bundles = await bundlesOf(client, deployment, signal);
  const owned = await ownedObjects(cluster, { owner: deployment, systemNamespace, signal });
  const entries = owned.inventory
    .ownedBy(name)
    .filter(({ key }) => namespace === undefined || key.namespace === namespace);
  const custom = await customStatuses({ deployment, entries, signal });
  const objects = objectReports(entries, custom, Date.now());
  return { deployment, bundles, entries, objects, hidden: owned.hidden };
}
