import { fail } from 'node:assert';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { assertEqual } from '../../assert-equal.ts';
import { comparable } from '../comparable.ts';
import type { Given, Trial } from '../trial.ts';

/** What core grants before it ends the process of a class. */
const grace = 1_000;

/**
 * An aborted handler ends within a second, whether it was aborted before it began or while it ran.
 * It may give its usual result, or reject with an Error, but never say that the content is bad.
 */
export async function checkAbort(trial: Trial): Promise<void> {
  const usual = comparable(trial.handler, await trial.run(await trial.given()));
  for (const moment of ['before it began', 'while it ran'] as const) {
    const given = await trial.given();
    const outcome = await abortedRun(trial, given, moment);
    if (outcome.status === 'fulfilled') {
      const result = comparable(trial.handler, outcome.value);
      assertEqual(
        result,
        usual,
        `aborted ${moment}, it gave something else than it does otherwise`,
      );
    } else {
      assertAbortError(outcome.reason, moment);
    }
  }
}

async function abortedRun(
  trial: Trial,
  given: Given,
  moment: 'before it began' | 'while it ran',
): Promise<PromiseSettledResult<unknown>> {
  const controller = new AbortController();
  const reason = new Error('aborted by the conformance suite');
  if (moment === 'before it began') controller.abort(reason);
  const context = { ...given.context, signal: controller.signal };
  const run = Promise.allSettled([trial.run({ ...given, context })]);
  await nextTurn();
  controller.abort(reason);
  const late = new AbortController();
  const outcome = await Promise.race([run, endOfGrace(late.signal)]);
  late.abort();
  return (
    outcome?.[0] ?? fail(`aborted ${moment}, it had not ended a second later: heed context.signal`)
  );
}

async function endOfGrace(signal: AbortSignal): Promise<undefined> {
  await delay(grace, undefined, { signal }).catch(() => undefined);
  // A process that was held up itself has events to handle first.
  await nextTurn();
  return undefined;
}

function assertAbortError(reason: unknown, moment: string): void {
  if (!(reason instanceof Error)) fail(`aborted ${moment}, it threw ${String(reason)}: no Error`);
  if (reason.name === 'TerminalError') {
    fail(`aborted ${moment}, it said that trying again cannot help: ${reason.message}`);
  }
}
