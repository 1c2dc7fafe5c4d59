interface ConditionErrorOptions extends ErrorOptions {
  /** The condition's reason; the reconciler's default for the failing step where absent. */
  readonly reason?: string;
}

/**
 * Trying again cannot help until the object changes: bad content, a refused spec.
 * The message goes to the condition as it is.
 */
export class TerminalError extends Error {
  override readonly name = 'TerminalError';
  readonly reason: string | undefined;

  constructor(message: string, options: ConditionErrorOptions = {}) {
    super(message, options);
    this.reason = options.reason;
  }
}

/**
 * Nothing is wrong yet, something outside is awaited: an image that cannot be pulled, an upload.
 * A source that throws it leaves its Bundle Pending; it is retried with back-off.
 */
export class WaitingError extends Error {
  override readonly name = 'WaitingError';
  readonly reason: string | undefined;

  constructor(message: string, options: ConditionErrorOptions = {}) {
    super(message, options);
    this.reason = options.reason;
  }
}

/** The text of anything that was thrown. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
