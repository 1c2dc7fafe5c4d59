interface ConditionErrorOptions extends ErrorOptions {
  /** The condition's reason; the reconciler's default for the failing step where absent. */
  readonly reason?: string;
}

/** What the two below share: the message goes to a condition as it is. */
class ConditionError extends Error {
  readonly reason: string | undefined;

  constructor(message: string, options: ConditionErrorOptions = {}) {
    super(message, options);
    this.reason = options.reason;
  }
}

/** Trying again cannot help until the object changes: bad content, a refused spec. */
export class TerminalError extends ConditionError {
  override readonly name = 'TerminalError';
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
  readonly retry: 'back-off' | 'on-change';

  constructor(message: string, options: WaitingErrorOptions = {}) {
    super(message, options);
    this.retry = options.retry ?? 'back-off';
  }
}

/** The text of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
