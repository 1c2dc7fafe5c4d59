import { inspect } from 'node:util';
import { TerminalError, WaitingError } from '../../../errors.ts';

/** A thrown value in transfer between processes, where an error's class is lost. */
export interface Thrown {
  readonly kind: 'terminal' | 'waiting' | 'other';
  readonly message: string;
  readonly reason?: string | undefined;
  /** Of a WaitingError. */
  readonly retry?: WaitingError['retry'] | undefined;
  readonly stack?: string | undefined;
}

/** Longer than any message of a condition. */
const longest = 64 * 1024;

/** metav1.Condition's format: with another reason the API server would refuse the whole status. */
const conditionReason = /^[A-Za-z](?:[A-Za-z0-9_,:]{0,1022}[A-Za-z0-9_])?$/;

/** Never throws, whatever a third party's code has thrown. */
export function toThrown(error: unknown): Thrown {
  try {
    return error instanceof Error ? thrownError(error) : thrownValue(error);
  } catch {
    return { kind: 'other', message: 'something was thrown that cannot be read' };
  }
}

/** An error of the same class, message and reason, with the stack of where it was thrown. */
export function fromThrown({ kind, message, reason, retry, stack }: Thrown): Error {
  const error = new errorClasses[kind](message.slice(0, longest), {
    ...(reason !== undefined && conditionReason.test(reason) ? { reason } : {}),
    ...(retry === undefined ? {} : { retry }),
  });
  if (stack !== undefined) error.stack = stack.slice(0, longest);
  return error;
}

const errorClasses = { terminal: TerminalError, waiting: WaitingError, other: Error } as const;

/**
 * The message for a refusal by Node's permissions: Node's own text proposes a flag that users
 * cannot set. Undefined for any other error.
 */
export function deniedText(error: unknown): string | undefined {
  const { code, permission, resource } = Object(error) as Readonly<Record<string, unknown>>;
  if (code !== 'ERR_ACCESS_DENIED') return undefined;
  const what = [permission, resource]
    .filter((part) => part !== '')
    .map(String)
    .join(' ');
  return `it needs a permission that classes do not have (${what.slice(0, 500)}): a class may read its own package, and may neither write files nor start processes or threads`;
}

function thrownError(error: Error): Thrown {
  const { stack } = error;
  const message = deniedText(error) ?? error.message;
  const kind = kindOf(error);
  const { reason, retry } = error as Partial<WaitingError>;
  return {
    kind,
    message: textOf(message),
    ...(kind !== 'other' && typeof reason === 'string' ? { reason } : {}),
    ...(kind === 'waiting' ? { retry: retry === 'on-change' ? retry : 'back-off' } : {}),
    ...(typeof stack === 'string' ? { stack: stack.slice(0, longest) } : {}),
  };
}

function thrownValue(value: unknown): Thrown {
  if (typeof value === 'string') return { kind: 'other', message: textOf(value) };
  return { kind: 'other', message: `no Error was thrown but ${textOf(value)}` };
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, longest);
  return inspect(value, { depth: 1, customInspect: false, breakLength: Infinity }).slice(0, 500);
}

function kindOf(error: Error): Thrown['kind'] {
  if (error instanceof TerminalError) return 'terminal';
  return error instanceof WaitingError ? 'waiting' : 'other';
}
