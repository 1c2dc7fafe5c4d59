import { ApiError } from '../kube/api-error.ts';
import { type ApplyFailure, failuresError, type Operation } from './failures.ts';
import { forEachLimit } from './for-each-limit.ts';
import { inKindOrder, isFoundation } from './order.ts';
import type { CheckedObject } from './ownership-check.ts';

const concurrentWrites = 8;

export interface StageSteps {
  readonly operation: Operation;
  apply(object: CheckedObject): Promise<void>;
  /** Runs between the stages: what the foundation defines is there after it. */
  foundationLaid(): Promise<readonly ApplyFailure[]>;
}

/**
 * Applies namespaces and CRDs, and only where all of them succeeded the rest, kind after kind.
 * A refused object does not stop the others of its stage; an unreachable server stops all.
 * Returns what was refused.
 */
export async function runStages(
  objects: readonly CheckedObject[],
  steps: StageSteps,
): Promise<readonly ApplyFailure[]> {
  const items = objects.map((object) => ({ object, resource: object.desired.resource }));
  const foundation = items.filter(({ resource }) => isFoundation(resource));
  const failures = await runStage(foundation, steps);
  if (failures.length > 0) return failures;
  const refused = await steps.foundationLaid();
  if (refused.length > 0) return refused;
  return await runStage(
    items.filter(({ resource }) => !isFoundation(resource)),
    steps,
  );
}

interface StageItem {
  readonly object: CheckedObject;
  readonly resource: CheckedObject['desired']['resource'];
}

async function runStage(
  items: readonly StageItem[],
  steps: StageSteps,
): Promise<readonly ApplyFailure[]> {
  const failures: ApplyFailure[] = [];
  for (const group of inKindOrder(items)) {
    await forEachLimit(group, concurrentWrites, async ({ object }) => {
      try {
        await steps.apply(object);
      } catch (error) {
        const action = object.live === undefined ? 'create' : 'patch';
        const failure: ApplyFailure = { object: object.desired, action, error };
        if (!(error instanceof ApiError)) throw failuresError([failure], steps.operation);
        failures.push(failure);
      }
    });
  }
  return failures;
}
