import { errorMessage, TerminalError, WaitingError } from '../../errors.ts';

/** What was thrown, as it crosses between processes: an error's class does not survive as such. */
export interface Thrown {
  readonly kind: 'terminal' | 'waiting' | 'other';
  readonly message: string;
  readonly reason?: string;
  /** Of a WaitingError. */
  readonly retry?: WaitingError['retry'];
  readonly stack?: string;
}

export function toThrown(error: unknown): Thrown {
  const reason =
    error instanceof TerminalError || error instanceof WaitingError ? error.reason : undefined;
  const stack = error instanceof Error ? error.stack : undefined;
  return {
    kind: kindOf(error),
    message: errorMessage(error),
    ...(reason === undefined ? {} : { reason }),
    ...(error instanceof WaitingError ? { retry: error.retry } : {}),
    ...(stack === undefined ? {} : { stack }),
  };
}

/** An error of the same class, message and reason, with the stack of where it was thrown. */
export function fromThrown({ kind, message, reason, retry, stack }: Thrown): Error {
  const error = new errorClasses[kind](message, {
    ...(reason === undefined ? {} : { reason }),
    ...(retry === undefined ? {} : { retry }),
  });
  if (stack !== undefined) error.stack = stack;
  return error;
}

const errorClasses = { terminal: TerminalError, waiting: WaitingError, other: Error } as const;

function kindOf(error: unknown): Thrown['kind'] {
  if (error instanceof TerminalError) return 'terminal';
  return error instanceof WaitingError ? 'waiting' : 'other';
}
