interface ConditionErrorOptions extends ErrorOptions {
  /** The condition's reason (default: the reconciler's default for the failing step). */
  readonly reason?: string;
}

/** Common to all copies of this module: a class may bring an sdk of its own along. */
const errorKind = Symbol.for('rukpak.io/error-kind');

/** What the two below share: the message goes to a condition as it is. */
abstract class ConditionError extends Error {
  abstract readonly [errorKind]: 'terminal' | 'waiting';
  readonly reason: string | undefined;

  constructor(message: string, options: ConditionErrorOptions = {}) {
    super(message, options);
    this.reason = options.reason;
  }
}

/** Trying again cannot help until the object changes: bad content, a refused spec. */
export class TerminalError extends ConditionError {
  override readonly name = 'TerminalError';
  readonly [errorKind] = 'terminal';

  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === TerminalError ? isOfKind(value, 'terminal') : super[Symbol.hasInstance](value);
  }
}

interface WaitingErrorOptions extends ConditionErrorOptions {
  /** `on-change`: whatever is awaited changes the object when it comes, so nobody needs to look. */
  readonly retry?: 'back-off' | 'on-change';
}

/**
 * Nothing is wrong yet, something outside is awaited: an image that cannot be pulled, an upload.
 * A source that throws it leaves its Bundle Pending; it is retried with back-off unless told else.
 */
export class WaitingError extends ConditionError {
  override readonly name = 'WaitingError';
  readonly [errorKind] = 'waiting';
  readonly retry: 'back-off' | 'on-change';

  constructor(message: string, options: WaitingErrorOptions = {}) {
    super(message, options);
    this.retry = options.retry ?? 'back-off';
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return this === WaitingError ? isOfKind(value, 'waiting') : super[Symbol.hasInstance](value);
  }
}

/** By its mark rather than its prototype, which is another one in each copy of this module. */
function isOfKind(value: unknown, kind: 'terminal' | 'waiting'): boolean {
  return value instanceof Error && (value as { [errorKind]?: unknown })[errorKind] === kind;
}

/** The text of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const longestQuote = 300;

/** A stranger's text as an error can show it: on one line, and not too long. */
export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, longestQuote)).replaceAll(unprintable, (character) => {
    const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${hex}`;
  });
}

/** Control characters that JSON allows. */
const unprintable = /\p{Cc}/gu;
