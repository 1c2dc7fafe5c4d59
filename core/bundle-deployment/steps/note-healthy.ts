import { timestamp } from '../../runtime/conditions.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { withHealthy } from '../revisions/history.ts';
import { withArrived } from '../revisions/progress.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';

/** Notes when the applied Bundle was healthy first; reached only by one that is. */
export async function noteHealthy(
  state: BundleDeploymentState,
  { clock, metrics }: ReconcileDependencies,
): Promise<StepOutcome> {
  const { status, target } = state;
  const { name = '' } = target?.metadata ?? {};
  if (status.progress?.bundle === name && status.progress.healthyAt === undefined) {
    state.status = withArrived(status, clock);
    metrics?.becameHealthy(state.status.progress?.secondsToHealthy ?? 0);
  }
  const { history } = state.status;
  if (history === undefined) return 'continue';
  const noted = withHealthy(history, name, timestamp(clock));
  state.status = { ...state.status, history: [...noted] };
  return 'continue';
}
