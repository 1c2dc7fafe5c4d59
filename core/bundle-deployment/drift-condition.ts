import type { BundleDeploymentStatus } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition, progressReason } from '../../api/v1alpha1/conditions.ts';
import type { DriftedObject } from '../contracts/applier.ts';
import type { Clock } from '../platform/clock.ts';
import { findCondition, setCondition } from '../platform/runtime/index.ts';
import { shortList } from '../short-list.ts';
import type { BundleDeploymentState } from './state.ts';

const listedObjects = 20;
const listedFields = 5;
const { drifted: type } = bundleDeploymentCondition;

/** The condition Drifted where objects differ from the bundle, else none. */
export function withDrift(
  status: BundleDeploymentStatus,
  drifted: readonly DriftedObject[] | undefined,
  clock: Clock,
): BundleDeploymentStatus {
  const { conditions = [] } = status;
  if (drifted === undefined || drifted.length === 0) {
    if (findCondition(conditions, type) === undefined) return status;
    return { ...status, conditions: conditions.filter((condition) => condition.type !== type) };
  }
  const update = {
    type,
    status: 'True',
    reason: progressReason.driftDetected,
    message: driftMessage(drifted),
  } as const;
  return { ...status, conditions: [...setCondition(conditions, update, clock)] };
}

/** True where the same Bundle was brought out completely before, with the same spec. */
export function isUnchanged({
  deployment: { metadata, status },
  target,
  kept,
}: Pick<BundleDeploymentState, 'deployment' | 'target' | 'kept'>): boolean {
  const { installed } = bundleDeploymentCondition;
  if (kept === true) return true;
  return (
    status?.activeBundle === target?.metadata.name &&
    status?.observedGeneration === metadata.generation &&
    findCondition(status?.conditions, installed)?.status === 'True'
  );
}

function driftMessage(drifted: readonly DriftedObject[]): string {
  const objects = drifted.map(
    ({ object, missing, fields }) => `${object} (${missing ? 'missing' : listed(fields)})`,
  );
  const [count, differ] =
    drifted.length === 1 ? ['1 object', 'differs'] : [`${drifted.length} objects`, 'differ'];
  return (
    `${count} ${differ} from the bundle: ${shortList(objects, listedObjects)}. ` +
    'Nothing is put back while spec.drift.mode is Warn'
  );
}

function listed(fields: readonly string[]): string {
  return shortList(
    fields.map((field) => field.slice(0, 120)),
    listedFields,
  );
}
