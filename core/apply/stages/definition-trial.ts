import { ApiError, type KubeClient } from '../../platform/kube/index.ts';
import { fieldManager } from '../fields/managed-fields.ts';
import type { CheckedObject } from '../objects/desired.ts';
import type { ApplyFailure } from '../objects/failures.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { isDefinition, isNamespaceOrDefinition } from '../objects/order.ts';
import type { Stage } from './stages.ts';

/** As many as crdvalidator checks at a time. */
const concurrentTrials = 2;

/** Admission webhooks, such as crdvalidator, and the API server's own rules. */
const refusals: readonly number[] = [403, 422];

/**
 * Asks the API server by dry runs whether it would accept the changes of existing CRDs, so that a
 * refused one keeps every other object as it is. Returns the refused ones. Asks nothing if the
 * only changed CRD is written before everything else: its write is the question.
 */
export async function tryDefinitions(
  stages: readonly Stage[],
  { client, signal }: { readonly client: Pick<KubeClient, 'apply'>; readonly signal: AbortSignal },
): Promise<readonly ApplyFailure[]> {
  const changed = stages.flatMap(({ pending }) => pending.filter(isTried));
  if (changed.length === 0 || isFirst(changed, stages)) return [];
  const failures: ApplyFailure[] = [];
  await forEachLimit(changed, concurrentTrials, async ({ desired }) => {
    try {
      const options = { fieldManager, force: true, dryRun: true, signal } as const;
      await client.apply(desired.resource, desired.object, options);
    } catch (error) {
      signal.throwIfAborted();
      // Anything else is a matter of the write, which may succeed.
      if (!(error instanceof ApiError) || !refusals.includes(error.code)) return;
      failures.push({ object: desired, action: 'patch', error });
    }
  });
  return failures;
}

/** The write of others differs from a plain apply: a refusal of that would say nothing. */
function isTried({ desired, live, repair, dropControllers, takeOver }: CheckedObject): boolean {
  if (!isDefinition(desired.resource) || live === undefined || repair) return false;
  return desired.ignored === undefined && !dropControllers && !takeOver;
}

function isFirst(changed: readonly CheckedObject[], stages: readonly Stage[]): boolean {
  const first = stages.find(({ pending }) => pending.length > 0)?.pending ?? [];
  const early = first.filter(({ desired }) => isNamespaceOrDefinition(desired.resource));
  return changed.length === 1 && early.length === 1 && early[0] === changed[0];
}
