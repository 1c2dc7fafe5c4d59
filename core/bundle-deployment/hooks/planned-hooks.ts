import { hooksOf } from '../../apply/index.ts';
import type { BundleDeploymentState } from '../state.ts';
import { hookText } from './hook-run.ts';
import { pendingOperation } from './pending-operation.ts';

/** The hooks that would run if the target were brought out now, in their order. */
export function plannedHooks(state: BundleDeploymentState): readonly string[] {
  const operation = pendingOperation(state);
  if (operation === undefined) return [];
  const events = [`pre-${operation}`, `post-${operation}`] as const;
  return events.flatMap((event) =>
    hooksOf(event, state.hooks ?? []).map((hook) => hookText({ event }, hook)),
  );
}
