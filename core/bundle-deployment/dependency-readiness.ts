import type { Condition } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition as type } from '../../api/v1alpha1/conditions.ts';
import { findCondition } from '../platform/runtime/index.ts';
import { isBroughtOut } from './wanted-bundle.ts';

/** A dependency may itself tell of one that tells of one: each repeats only so much. */
const shownLength = 300;

/**
 * Why others have to wait for this deployment, as a clause about it; undefined where it is installed
 * and healthy as its present spec asks for. Health counts only where it is reported.
 */
export function unreadiness(
  deployment: BundleDeployment | undefined,
  reportHealth: boolean,
): string | undefined {
  if (deployment === undefined) return 'it does not exist';
  const { metadata, status = {} } = deployment;
  if (metadata.deletionTimestamp !== undefined) return 'it is being deleted';
  if (status.observedGeneration !== metadata.generation) {
    return 'its last change has not been looked at yet';
  }
  const installed = findCondition(status.conditions, type.installed);
  if (installed?.status !== 'True' || !isBroughtOut(deployment)) return notInstalled(deployment);
  return reportHealth ? notHealthy(deployment) : undefined;
}

/** Some classes of others report no health: RukPak's helm class, for one. */
function notHealthy({ status = {} }: BundleDeployment): string | undefined {
  const healthy = findCondition(status.conditions, type.healthy);
  return healthy === undefined || healthy.status === 'True' ? undefined : says(healthy);
}

function notInstalled({ status = {} }: BundleDeployment): string {
  const telling = [type.progressing, type.installed, type.hasValidBundle]
    .map((each) => findCondition(status.conditions, each))
    .find((condition) => condition !== undefined && !isGood(condition));
  return telling === undefined ? 'its Bundle is not installed yet' : says(telling);
}

function isGood({ type: about, status, message }: Condition): boolean {
  // Of a Bundle that is being unpacked HasValidBundle is True already.
  const isWaiting = about === type.hasValidBundle && message.startsWith('Waiting');
  return status === 'True' && !isWaiting;
}

function says({ type: about, message }: Condition): string {
  const [line = ''] = message.split('\n');
  const shown = line.length > shownLength ? `${line.slice(0, shownLength)}…` : line;
  return `its ${about} condition says: ${shown}`;
}
