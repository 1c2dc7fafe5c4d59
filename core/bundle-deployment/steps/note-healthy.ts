import { timestamp } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { withHealthy } from '../revisions/history.ts';
import { withArrived } from '../revisions/progress.ts';
import type { BundleDeploymentState, StepOutcome } from '../state.ts';

/** Notes when the applied Bundle was healthy first; reached only by one that is. */
export async function noteHealthy(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
): Promise<StepOutcome> {
  const { name = '' } = state.target?.metadata ?? {};
  noteProgress(state, name, dependencies);
  const { history } = state.status;
  if (history === undefined) return 'continue';
  const noted = withHealthy(history, name, timestamp(dependencies.clock));
  state.status = { ...state.status, history: [...noted] };
  return 'continue';
}

function noteProgress(
  state: BundleDeploymentState,
  name: string,
  { clock, metrics }: ReconcileDependencies,
): void {
  const { progress } = state.status;
  if (progress?.bundle !== name || progress.healthyAt !== undefined) return;
  state.status = withArrived(state.status, clock);
  metrics?.becameHealthy(state.status.progress?.secondsToHealthy ?? 0);
}
