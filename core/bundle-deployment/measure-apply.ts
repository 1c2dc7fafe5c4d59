import type { ApplyResult } from '../contracts/applier.ts';
import type { Clock } from '../platform/clock.ts';
import type { AppliedSet, ApplyMetrics } from '../platform/observe/index.ts';
import type { BundleDeploymentState } from './state.ts';

interface MeasuredBy {
  readonly clock: Clock;
  readonly metrics?: Pick<ApplyMetrics, 'applied' | 'changed'> | undefined;
}

/** Runs an apply and tells what it was for, how long it took and what it changed. */
export async function measureApply(
  state: BundleDeploymentState,
  { clock, metrics }: MeasuredBy,
  run: () => Promise<ApplyResult>,
): Promise<ApplyResult> {
  const operation = operationOf(state);
  const startedAt = clock.monotonic();
  const applied = (outcome: AppliedSet['outcome']): void =>
    metrics?.applied({ operation, outcome, seconds: (clock.monotonic() - startedAt) / 1000 });
  try {
    const result = await run();
    metrics?.changed(operation, result.changes);
    applied('success');
    return result;
  } catch (error) {
    applied('error');
    throw error;
  }
}

function operationOf({ deployment, target }: BundleDeploymentState): AppliedSet['operation'] {
  const { activeBundle = '' } = deployment.status ?? {};
  if (activeBundle === '') return 'install';
  return activeBundle === target?.metadata.name ? 'reconcile' : 'upgrade';
}
