import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { Cluster } from '../cluster.ts';
import { type BundleReport, bundleReports } from './bundle-report.ts';
import { type DeploymentRequest, readDeployment } from './deployment-reading.ts';
import { isHealthy, type ObjectReport } from './object-report.ts';

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

/** @throws ApiError, also where there is no such deployment. */
export async function statusReport(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  request: DeploymentRequest,
): Promise<StatusReport> {
  const { deployment, bundles, objects, hidden } = await readDeployment(cluster, request);
  const kept = objects.filter(({ hook }) => hook === undefined);
  return {
    name: request.name,
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
