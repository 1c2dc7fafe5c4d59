import type { ChildProcess } from 'node:child_process';
import { errorMessage, TerminalError } from '../../errors.ts';

/** Why a worker process has ended that nobody told to. */
export function endedBy({ exitCode, signalCode }: ChildProcess, callee: string): Error {
  const how = signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`;
  return new Error(`the worker process of ${callee} ended ${how}: what it printed is in the log`);
}

interface MemoryBound {
  readonly memoryMegabytes: number;
  /** Whether a flag of core sets it. */
  readonly isFlag: boolean;
  readonly advice?: string | undefined;
}

const flagAdvice = 'make it smaller, split it, or allow more (--provisioner-memory)';

/** Why one was ended that takes too much memory: another try would end the same way. */
export function needsMore(
  callee: string,
  { memoryMegabytes, isFlag, advice }: MemoryBound,
): TerminalError {
  const wayOut = advice ?? (isFlag ? flagAdvice : 'make it smaller or split it');
  return new TerminalError(
    `${callee} needs more than ${memoryMegabytes} MiB of memory for this content: ${wayOut}`,
  );
}

/** Why one was ended that takes more processor time than it may. */
export function tooSlow(
  callee: string,
  {
    limit,
    advice = 'make it smaller',
  }: { readonly limit: number; readonly advice?: string | undefined },
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
