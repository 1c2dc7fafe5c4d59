import type { ProvisionerContext } from '../../contracts/provisioner.ts';
import { Countdown, type InTurn, type Turn } from '../../platform/runtime/index.ts';

/**
 * Runs all requests of one call within the time limit, so that the message can blame the server, which
 * `name` names; the reconciler has the same limit for classes that exceed it. Waits for a place or for
 * memory do not count.
 */
export async function withinLimit<C extends ProvisionerContext, T>(
  name: string,
  given: InTurn<C>,
  work: (context: InTurn<C>) => Promise<T>,
): Promise<T> {
  const { signal, limits, turn } = given;
  const countdown = new Countdown(limits.timeout);
  const either = AbortSignal.any([signal, countdown.signal]);
  try {
    return await work({ ...given, signal: either, turn: withCountdown(turn, countdown) });
  } catch (error) {
    if (!countdown.signal.aborted || signal.aborted) throw error;
    throw new Error(
      `${name} took longer than the limit of ${limits.timeout / 1000} s (--content-timeout)`,
      { cause: error },
    );
  } finally {
    countdown.end();
  }
}

/** The turn whose waits neither its own countdown nor this one counts. */
function withCountdown(turn: Turn = { creator: 'core' }, own: Countdown): Turn {
  const { countdown: outer } = turn;
  const uncounted: Countdown['uncounted'] = async (waiting) =>
    await own.uncounted(
      async () => await (outer === undefined ? waiting() : outer.uncounted(waiting)),
    );
  return { ...turn, countdown: { uncounted } };
}
