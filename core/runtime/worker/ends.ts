import type { ChildProcess } from 'node:child_process';
import { errorMessage, TerminalError } from '../../errors.ts';

/** Why a worker process has ended that nobody told to. */
export function endedBy({ exitCode, signalCode }: ChildProcess, callee: string): Error {
  const how = signalCode === null ? `with exit code ${exitCode}` : `by ${signalCode}`;
  return new Error(`the worker process of ${callee} ended ${how}: what it printed is in the log`);
}

/** Why one was ended that takes too much memory: another try would end the same way. */
export function needsMore(
  callee: string,
  { memoryMegabytes, isFlag }: { readonly memoryMegabytes: number; readonly isFlag: boolean },
): TerminalError {
  const wayOut = isFlag
    ? 'make it smaller, split it, or allow more (--provisioner-memory)'
    : 'make it smaller or split it';
  return new TerminalError(
    `${callee} needs more than ${memoryMegabytes} MiB of memory for this content: ${wayOut}`,
  );
}

const longest = 500;

/** Why one was ended that breaks the rules of the messages. */
export function unreadable(callee: string, error: unknown): TerminalError {
  return new TerminalError(
    `${callee} gave an answer that cannot be read: ${errorMessage(error).slice(0, longest)}`,
  );
}
