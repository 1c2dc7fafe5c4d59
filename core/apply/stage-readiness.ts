import type { DesiredObject } from './desired.ts';
import type { PlannedObject } from './plan.ts';
import type { Run } from './run.ts';

/** The line for an object that is not healthy. */
export type ProblemOf = (object: DesiredObject) => string | undefined;

/**
 * Judges by what the watches know whether objects that were applied are healthy; their next change
 * of health wakes the owner. Undefined where stages do not wait: nobody asked for it, or there is
 * nothing but repairs.
 */
export function readinessOf(run: Run, plan: readonly PlannedObject[]): ProblemOf | undefined {
  if (!run.waitForReady || plan.every(({ repair }) => repair)) return undefined;
  const { records, drift } = run.parts;
  return ({ id }) => {
    const record = records.get(id);
    return record === undefined ? undefined : drift.health(record);
  };
}
