import { fail } from 'node:assert';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { TerminalError } from '../core/sdk.ts';

/** Milliseconds. */
const defaultTimeout = 60_000;

/** A call that has not settled in time: the suite's own error, not one of the tested code. */
export class OverdueError extends Error {
  override readonly name = 'OverdueError';
}

/** @throws OverdueError that names the handler, after `timeout` milliseconds. */
export async function inTime<T>(
  handler: string,
  timeout: number | undefined,
  call: () => Promise<T>,
): Promise<T> {
  const limit = timeout ?? defaultTimeout;
  const overdue = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    overdue.reject(
      new OverdueError(
        `${handler} has not settled within ${limit / 1000} s: see what it awaits, or give it longer (timeout in the fixtures)`,
      ),
    );
  }, limit);
  try {
    return await Promise.race([call(), overdue.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The error with which a call rejects; undefined after a success.
 * @throws OverdueError when it has not settled in time.
 */
export async function thrownBy(
  run: () => Promise<unknown>,
): Promise<{ error: unknown } | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof OverdueError) throw error;
    return { error };
  }
}

/**
 * Time that core grants before it ends the process of a class, in parts: on a busy machine each
 * part takes longer, and so does the whole.
 */
const grace = { parts: 20, milliseconds: 50 };

const moments = ['before it began', 'while it ran'] as const;

/** The result of a run although it was aborted. */
export interface AbortedResult<T> {
  /** Such as `aborted before it began`. */
  readonly how: string;
  readonly value: T;
}

/**
 * Runs with a signal that is aborted before the start, and with one that is aborted soon after.
 * Each run must end within a second: with a result, which is returned, or with an Error that is not
 * terminal.
 */
export async function abortedResults<T>(
  run: (signal: AbortSignal) => Promise<T>,
): Promise<readonly AbortedResult<T>[]> {
  const results: AbortedResult<T>[] = [];
  for (const moment of moments) {
    const how = `aborted ${moment}`;
    const outcome = await abortedRun(run, moment);
    if (outcome === undefined) fail(`${how}, it had not ended a second later: heed context.signal`);
    if (outcome.status === 'fulfilled') results.push({ how, value: outcome.value });
    else assertAbortError(outcome.reason, how);
  }
  return results;
}

async function abortedRun<T>(
  run: (signal: AbortSignal) => Promise<T>,
  moment: (typeof moments)[number],
): Promise<PromiseSettledResult<T> | undefined> {
  const controller = new AbortController();
  const reason = new Error('aborted by the conformance suite');
  if (moment === 'before it began') controller.abort(reason);
  const running = Promise.allSettled([run(controller.signal)]);
  await nextTurn();
  controller.abort(reason);
  const ended = new AbortController();
  const outcomes = await Promise.race([running, endOfGrace(ended.signal)]);
  ended.abort();
  return outcomes?.[0];
}

async function endOfGrace(signal: AbortSignal): Promise<undefined> {
  for (let part = 0; part < grace.parts && !signal.aborted; part += 1) {
    await delay(grace.milliseconds, undefined, { signal }).catch(() => undefined);
  }
  // After a pause of the process itself, queued events come first.
  await nextTurn();
  return undefined;
}

function assertAbortError(reason: unknown, how: string): void {
  if (!(reason instanceof Error)) fail(`${how}, it threw ${String(reason)}, which is not an Error`);
  if (reason instanceof TerminalError) {
    fail(`${how}, it said that trying again cannot help: ${reason.message}`);
  }
}
