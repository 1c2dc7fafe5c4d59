import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { errorMessage, TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { endText, processorTime } from '../../platform/runtime/index.ts';

interface Watch {
  readonly pid: number;
  readonly clock: Clock;
  /** Ends the monitoring. */
  readonly signal: AbortSignal;
  readonly onExcess: () => void;
}

/** Milliseconds: shorter than a process needs to fill a few hundred megabytes. */
const interval = 100;

/**
 * Samples a process's memory, because V8's own limit does not cover buffers. On systems other than
 * Linux only V8's limit applies.
 */
export async function watchMemory({
  maxBytes,
  onSample,
  ...watch
}: Watch & {
  readonly maxBytes: number;
  /** Receives the bytes of each sample. */
  readonly onSample: (bytes: number) => void;
}): Promise<void> {
  await lookAgain(watch, async () => {
    const status = await readFile(`/proc/${watch.pid}/status`, 'latin1');
    // Without shared memory, such as Node's own code.
    const [, kibibytes = '0'] = /^RssAnon:\s+([0-9]+) kB$/m.exec(status) ?? [];
    const bytes = Number(kibibytes) * 1024;
    onSample(bytes);
    return bytes > maxBytes;
  });
}

/**
 * Samples a process's processor time: on a busy machine, real time says little about its work. Does
 * nothing on systems other than Linux.
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
    // The process has ended or answered, or the system does not report its time.
  }
}

export interface RunningLimit {
  /** Milliseconds (default: only the call's own signal ends it). */
  readonly limit: number | undefined;
  readonly clock: Clock;
  /** The called class or source, for messages. */
  readonly callee: string;
  /** Process of the call; undefined without one. */
  readonly pid: number | undefined;
}

/** Terminal, because the same content would take as long again. */
export class OutOfTimeError extends TerminalError {}

/**
 * Runs a call that has its process now, with a signal that is aborted when it takes too long.
 * @throws OutOfTimeError when it used the processor all the time; otherwise an Error, so that it is
 * retried.
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

/**
 * The part of its time that a slow call must have used the processor: otherwise the machine was
 * busy with others.
 */
const ownWork = 1 / 3;

function outOfTime(
  callee: string,
  { limit, worked }: { readonly limit: number; readonly worked: number },
): Error {
  const text = `${callee} took longer than ${limit / 1000} s for this content: make the content smaller, or remove an endless loop or recursion`;
  if (!(worked >= limit * ownWork)) return new Error(text);
  return new OutOfTimeError(`${text}. Core retries when content or values change`);
}

interface MemoryBound {
  readonly memoryMegabytes: number;
  /** Whether a flag of core sets the limit. */
  readonly isFlag: boolean;
  readonly advice?: string | undefined;
}

/** The error of a process that was ended for its memory: a retry would end the same way. */
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

/** The error of a process that was ended for its processor time. */
export function tooSlow(
  callee: string,
  { limit, advice = 'make it smaller' }: ProcessorBound,
): TerminalError {
  return new TerminalError(
    `${callee} takes more than ${limit / 1000} s of processor time for this content: ${advice}`,
  );
}

const longest = 500;

/** The error of a process that was ended for an invalid message. */
export function unreadable(callee: string, error: unknown): TerminalError {
  return new TerminalError(
    `${callee} gave an answer that cannot be read: ${errorMessage(error).slice(0, longest)}`,
  );
}

/** The error of a process that core did not end. */
export function endedBy({ exitCode, signalCode }: ChildProcess, callee: string): Error {
  const end = { code: exitCode, signal: signalCode };
  const how = endText(end, { parent: 'core', details: 'what it printed is in the log' });
  return new Error(`the worker process of ${callee} ${how}`);
}
