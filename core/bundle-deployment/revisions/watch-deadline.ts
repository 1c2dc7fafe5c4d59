import { timestamp } from '../../platform/runtime/index.ts';
import type { BundleDeploymentDependencies } from '../dependencies.ts';
import { ownBundles } from '../own-bundles.ts';
import type { BundleDeploymentState, StepContext } from '../state.ts';
import { withRolledBack } from './history.ts';
import { rollbackDeadline } from './policy.ts';
import { pendingProgress } from './progress.ts';
import { noWayBack, reasonOf, rolledBack, wayBack } from './rollback.ts';

/**
 * Gives the template's Bundle up where its time is over, whatever the reconcile came to. The
 * decision is only written here; the next reconcile acts on it, in this process or another one.
 */
export function watchDeadline(
  state: BundleDeploymentState,
  { bundles, clock }: Pick<BundleDeploymentDependencies, 'bundles' | 'clock'>,
  { wakeAfter }: Pick<StepContext, 'wakeAfter'>,
): void {
  const pending = pendingProgress(state);
  const deadline = rollbackDeadline(state.deployment.spec);
  if (pending === undefined || deadline === undefined) return;
  const left = Date.parse(pending.startedAt) + deadline - clock.now();
  if (left > 0) {
    wakeAfter(left);
    return;
  }
  const { deployment, status } = state;
  const from = pending.bundle;
  const reason = reasonOf(state, from, deployment.spec.rollback?.deadline);
  const { history = [] } = status;
  const to = wayBack(history, from, ownBundles(deployment, bundles));
  if (to === undefined) {
    state.holdUp = noWayBack(from, reason);
    return;
  }
  const at = timestamp(clock);
  const rollback = { from, to, reason, at };
  state.status = { ...status, rollback, history: [...withRolledBack(history, from, at)] };
  state.holdUp = rolledBack(deployment, rollback);
  wakeAfter(0);
}
