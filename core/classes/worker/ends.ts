import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { errorMessage, TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';

interface Watch {
  readonly pid: number;
  readonly clock: Clock;
  /** Ends the watching. */
  readonly signal: AbortSignal;
  readonly onExcess: () => void;
}

/** Filling memory takes a process longer than this for each few hundred megabytes. */
const interval = 100;

/**
 * Looks at a process's memory again and again: V8's own bound does not cover buffers. Where the
 * system does not tell (it is not Linux), that bound is all there is.
 */
export async function watchMemory({
  maxBytes,
  onSample,
  ...watch
}: Watch & {
  readonly maxBytes: number;
  /** Is told how many bytes there are. */
  readonly onSample: (bytes: number) => void;
}): Promise<void> {
  await lookAgain(watch, async () => {
    const status = await readFile(`/proc/${watch.pid}/status`, 'latin1');
    // Without what it shares, such as Node's own code.
    const [, kibibytes = '0'] = /^RssAnon:\s+([0-9]+) kB$/m.exec(status) ?? [];
    const bytes = Number(kibibytes) * 1024;
    onSample(bytes);
    return bytes > maxBytes;
  });
}

/**
 * Looks at a process's processor time again and again: on a busy machine the clock says little of
 * what it has done. Where the system does not tell (it is not Linux), nothing is watched.
 */
export async function watchProcessor({
  limit,
  ...watch
}: Watch & {
  /** Milliseconds of processor time from now on. */
  readonly limit: number;
}): Promise<void> {
  const before = processorTime(watch.pid);
  if (Number.isNaN(before)) return;
  await lookAgain(watch, async () => processorTime(watch.pid) - before > limit);
}

async function lookAgain(
  { clock, signal, onExcess }: Omit<Watch, 'pid'>,
  exceeds: () => Promise<boolean>,
): Promise<void> {
  try {
    for (;;) {
      if (await exceeds()) return onExcess();
      await clock.sleep(interval, signal);
    }
  } catch {
    // It has ended or answered, or the system does not tell.
  }
}

export interface RunningLimit {
  /** Milliseconds; without one a call's own signal is all that ends it. */
  readonly limit: number | undefined;
  readonly clock: Clock;
  /** Who is called, for messages. */
  readonly callee: string;
  /** Of the process that the call has; undefined where there is none. */
  readonly pid: number | undefined;
}

/** The same content would take as long another time. */
export class OutOfTimeError extends TerminalError {}

/**
 * Runs a call that has its process now, with a signal that aborts it when that takes too long.
 * @throws OutOfTimeError where it worked all the time; else an Error, which is to be tried again.
 */
export async function withRunningLimit<T>(
  { limit, clock, callee, pid }: RunningLimit,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (limit === undefined) return await run(signal);
  const finished = new AbortController();
  const tooLong = new AbortController();
  const before = processorTime(pid);
  const watch = async (): Promise<void> => {
    try {
      await clock.sleep(limit, finished.signal);
    } catch {
      return;
    }
    const worked = processorTime(pid) - before;
    tooLong.abort(outOfTime(callee, { limit, worked }));
  };
  void watch();
  try {
    return await run(AbortSignal.any([signal, tooLong.signal]));
  } finally {
    finished.abort();
  }
}

/** Of its time, what a call must have worked to be to blame: else the machine was busy, and others were. */
const ownWork = 1 / 3;

function outOfTime(
  callee: string,
  { limit, worked }: { readonly limit: number; readonly worked: number },
): Error {
  const text = `${callee} took longer than ${limit / 1000} s for this content: make it smaller, or look for what repeats itself without an end`;
  if (!(worked >= limit * ownWork)) return new Error(text);
  return new OutOfTimeError(`${text}; core tries again when content or values change`);
}

/** Of Linux' accounting, whatever the kernel's own clock is. */
const millisecondsPerTick = 10;

/** Milliseconds of processor time that a process has had; NaN where the system does not tell. */
function processorTime(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name, which may have blanks and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick;
  } catch {
    return Number.NaN;
  }
}

interface MemoryBound {
  readonly memoryMegabytes: number;
  /** Whether a flag of core sets it. */
  readonly isFlag: boolean;
  readonly advice?: string | undefined;
}

/** Why a process was ended that takes too much memory: another try would end the same way. */
export function needsMore(
  callee: string,
  { memoryMegabytes, isFlag, advice }: MemoryBound,
): TerminalError {
  const more = isFlag
    ? 'make it smaller, split it, or allow more (--provisioner-memory)'
    : 'make it smaller or split it';
  return new TerminalError(
    `${callee} needs more than ${memoryMegabytes} MiB of memory for this content: ${advice ?? more}`,
  );
}

interface ProcessorBound {
  readonly limit: number;
  readonly advice?: string | undefined;
}

/** Why one was ended that takes more processor time than it may. */
export function tooSlow(
  callee: string,
  { limit, advice = 'make it smaller' }: ProcessorBound,
): TerminalError {
  return new TerminalError(
    `${callee} takes more than ${limit / 1000} s of processor time for this content: ${advice}`,
  );
}

const longest = 500;

/** Why one was ended that breaks the rules of the messages. */
export function unreadable(callee: string, error: unknown): TerminalError {
  return new TerminalError(
    `${callee} gave an answer that cannot be read: ${errorMessage(error).slice(0, longest)}`,
  );
}

/** Why a process has ended that nobody told to. */
export function endedBy({ exitCode, signalCode }: ChildProcess, callee: string): Error {
  const how = signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`;
  return new Error(`the worker process of ${callee} ended ${how}: what it printed is in the log`);
}
