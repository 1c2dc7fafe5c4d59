/** metav1.Status, as the API server answers a refused request. */
export interface ApiStatus {
  readonly message?: string;
  readonly reason?: string;
  readonly code?: number;
  readonly details?: {
    readonly name?: string;
    readonly group?: string;
    readonly kind?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { reason?: string; message?: string; field?: string }[];
  };
}

/** The API server refused a request; `message` is its own sentence. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly status: ApiStatus;

  constructor(code: number, status: ApiStatus) {
    // A webhook may deny with nothing but a reason.
    super(status.message || status.reason || `the server answered with HTTP status ${code}`);
    this.code = code;
    this.status = status;
  }
}

/** No such object, or no such kind. */
export function isNotFound(error: unknown): error is ApiError {
  return error instanceof ApiError && error.code === 404;
}

/** The kind is served, and has no object of that name. */
export function isObjectNotFound(error: unknown): error is ApiError {
  return isNotFound(error) && (error.status.details?.name ?? '') !== '';
}

/** The API server does not serve the kind, at that place. */
export function isKindNotFound(error: unknown): error is ApiError {
  return isNotFound(error) && !isObjectNotFound(error);
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409 && error.status.reason === 'Conflict';
}

export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409 && error.status.reason === 'AlreadyExists';
}
