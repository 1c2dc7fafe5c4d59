import { readFileSync } from 'node:fs';
import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Call } from './call.ts';

export interface RunningLimit {
  /** Milliseconds; without one a call's own signal is all that ends it. */
  readonly limit: number | undefined;
  readonly clock: Clock;
  /** Of the process that the call has; undefined where there is none. */
  readonly pid: number | undefined;
}

/** The same content would take as long another time. */
export class OutOfTimeError extends TerminalError {}

/** Of its time, what a call must have worked to be to blame: else the machine was busy, and others were. */
const ownWork = 1 / 3;

/**
 * Runs a call that has its process now, and aborts it when that takes too long.
 * @throws OutOfTimeError where it worked all the time; else an Error, which is to be tried again.
 */
export async function withRunningLimit<T>(
  call: Call,
  { limit, clock, pid }: RunningLimit,
  run: (call: Call) => Promise<T>,
): Promise<T> {
  if (limit === undefined) return await run(call);
  const finished = new AbortController();
  const tooLong = new AbortController();
  const before = cpuTime(pid);
  const watch = async (): Promise<void> => {
    try {
      await clock.sleep(limit, finished.signal);
    } catch {
      return;
    }
    tooLong.abort(endOf(call, { limit, worked: cpuTime(pid) - before }));
  };
  void watch();
  const signal = AbortSignal.any([call.context.signal, tooLong.signal]);
  try {
    return await run({ ...call, context: { ...call.context, signal } });
  } finally {
    finished.abort();
  }
}

function endOf(
  { callee }: Call,
  { limit, worked }: { readonly limit: number; readonly worked: number },
): Error {
  const text = `${callee} took longer than ${limit / 1000} s for this content: make it smaller, or look for what repeats itself without an end`;
  if (!(worked >= limit * ownWork)) return new Error(text);
  return new OutOfTimeError(`${text}; core tries again when content or values change`);
}

const millisecondsPerTick = 10;

/** Milliseconds of processor time that a process has had; NaN where the system does not tell. */
function cpuTime(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in brackets may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [user = '', system = ''] = fields.slice(11, 13);
    return (Number(user) + Number(system)) * millisecondsPerTick;
  } catch {
    return Number.NaN;
  }
}
