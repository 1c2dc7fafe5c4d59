import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import type {
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentCondition, progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { RollbackStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import type { HoldUp } from '../../contracts/applier.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { BundleDeploymentState } from '../state.ts';
import { type History, lastHealthy } from './history.ts';

/** The Bundle to go back to from another one: the last healthy one that still is there. */
export function wayBack(
  history: History,
  from: string,
  owned: readonly Bundle[],
): string | undefined {
  const present = new Set(owned.filter(isUsable).map(({ metadata }) => metadata.name));
  return lastHealthy(
    history.filter(({ bundle }) => present.has(bundle)),
    from,
  )?.bundle;
}

/** What condition Progressing says while a rollback is in force. */
export function rolledBack({ metadata }: BundleDeployment, rollback: RollbackStatus): HoldUp {
  const { from, to, reason, at } = rollback;
  return {
    reason: progressReason.rolledBack,
    message:
      `Bundle "${to}" is back since ${at}, because "${from}" was ${reason}. ` +
      `"${from}" is not tried again: change spec.template, make it permanent with ` +
      `"rukpakctl rollback ${metadata.name}", or remove spec.rollback to try "${from}" without a deadline`,
  };
}

/** What it says where the time is over and there is nothing to go back to. */
export function noWayBack(from: string, reason: string): HoldUp {
  return {
    reason: progressReason.progressDeadlineExceeded,
    message: `Bundle "${from}" is ${reason}. There is no earlier healthy Bundle to go back to: change spec.template`,
  };
}

/** Why a Bundle that was not healthy within its deadline was not, in a few words. */
export function reasonOf(
  { status, holdUp }: BundleDeploymentState,
  bundle: string,
  deadline = '',
): string {
  const cause = causeOf(status, bundle) ?? holdUp?.message;
  const text = `not healthy within ${deadline}`;
  return cause === undefined ? text : `${text} (${shortened(cause)})`;
}

function causeOf(status: BundleDeploymentStatus, bundle: string): string | undefined {
  const { installed, healthy } = bundleDeploymentCondition;
  const failure = findCondition(status.conditions, installed);
  if (failure?.status === 'False') return failure.message;
  const unhealthy = findCondition(status.conditions, healthy);
  // Until the Bundle is applied completely the condition tells of the one before.
  if (status.activeBundle !== bundle || unhealthy?.status !== 'False') return undefined;
  return unhealthy.message;
}

const longestCause = 500;

function shortened(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= longestCause) return text;
  return `${characters.slice(0, longestCause).join('')} …`;
}

function isUsable({ metadata, status }: Bundle): boolean {
  return metadata.deletionTimestamp === undefined && status?.phase === 'Unpacked';
}
