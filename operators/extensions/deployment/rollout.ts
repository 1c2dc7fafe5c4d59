import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import {
  bundleDeploymentReason,
  bundleReason,
  kstatusCondition,
  progressReason,
  readyReason,
} from '../../../api/v1alpha1/index.ts';
import { bundleName, templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import { findCondition } from '../../../core/controller.ts';

/**
 * How far core is with a BundleDeployment.
 * `unobserved`: core has not reconciled its present spec yet.
 * `running`: core is at work, and nothing is wrong.
 * `retrying`: something is wrong, and core tries again.
 * `blocked`: core waits for a user.
 * `finished`: the bundle is installed.
 */
export interface Rollout {
  readonly phase: 'unobserved' | 'running' | 'retrying' | 'blocked' | 'finished';
  /** Reason and message of its condition Ready. */
  readonly reason: string;
  readonly message: string;
  /** Installed and healthy. */
  readonly isReady: boolean;
}

const running: ReadonlySet<string> = new Set([
  readyReason.installing,
  readyReason.classAtWork,
  bundleDeploymentReason.unpackPending,
  bundleReason.unpacking,
  progressReason.waitingForDependencies,
  progressReason.waitingForStage,
  progressReason.waitingForHook,
  progressReason.waitingForDependents,
  progressReason.deleting,
]);

/** Whether a reason of Ready says that core is at work, and nothing is wrong. */
export function isRunning(reason: string): boolean {
  return running.has(reason);
}

export function rolloutOf(deployment: BundleDeployment): Rollout {
  const { metadata, status } = deployment;
  const ready = findCondition(status?.conditions, kstatusCondition.ready);
  if (ready === undefined || ready.observedGeneration !== metadata.generation) {
    return { phase: 'unobserved', reason: '', message: '', isReady: false };
  }
  const { reason, message } = ready;
  const isReady = ready.status === 'True';
  return { phase: phaseOf(deployment, reason), reason, message, isReady };
}

function phaseOf(deployment: BundleDeployment, reason: string): Rollout['phase'] {
  const conditions = deployment.status?.conditions;
  const holds = (type: string): boolean => findCondition(conditions, type)?.status === 'True';
  if (holds(kstatusCondition.ready)) return 'finished';
  if (holds(kstatusCondition.stalled)) return 'blocked';
  if (holds(kstatusCondition.reconciling)) return isRunning(reason) ? 'running' : 'retrying';
  // Bad health, or a decision that core waits for.
  return isRolledOut(deployment) ? 'finished' : 'blocked';
}

/** The name of the Bundle that core makes of its template. */
export function wantedBundle({ metadata, spec: { template } }: BundleDeployment): string {
  return bundleName(metadata.name ?? '', templateHash(template));
}

export function isRolledOut(deployment: BundleDeployment): boolean {
  const active = deployment.status?.activeBundle ?? '';
  return active !== '' && active === wantedBundle(deployment);
}

/**
 * The name of the Bundle that core goes back to if the wanted one is not healthy in time; undefined if
 * core goes back to none.
 */
export function wayBack(deployment: BundleDeployment): string | undefined {
  const { progress, rollback, history = [] } = deployment.status ?? {};
  if (deployment.spec.rollback === undefined) return undefined;
  if (rollback !== undefined) return rollback.to;
  const name = wantedBundle(deployment);
  if (progress?.bundle === name && progress.healthyAt !== undefined) return undefined;
  return history.find((each) => each.bundle !== name && each.healthyAt !== undefined)?.bundle;
}
