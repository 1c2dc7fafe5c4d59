import { parseJson } from '../../../api/json.ts';
import type { TextResponse } from './transport.ts';

/** metav1.Status in the API server's answer to a refused request. */
interface ApiStatus {
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
    // A webhook may deny with only a reason.
    super(status.message || status.reason || `the server answered with HTTP status ${code}`);
    this.code = code;
    this.status = status;
  }
}

/** Whether the API server refused a request with one of these HTTP statuses. */
export function hasCode(error: unknown, ...codes: readonly number[]): error is ApiError {
  return error instanceof ApiError && codes.includes(error.code);
}

/** RBAC, an admission webhook or a quota does not allow it. */
export function isForbidden(error: unknown): error is ApiError {
  return hasCode(error, 403);
}

/** The object does not exist, or its kind does not. */
export function isNotFound(error: unknown): error is ApiError {
  return hasCode(error, 404);
}

/** The kind is served, and has no object of that name. */
export function isObjectNotFound(error: unknown): error is ApiError {
  return isNotFound(error) && (error.status.details?.name ?? '') !== '';
}

/** The API server does not serve the kind at that path. */
export function isKindNotFound(error: unknown): error is ApiError {
  return isNotFound(error) && !isObjectNotFound(error);
}

export function isConflict(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409 && error.status.reason === 'Conflict';
}

export function isAlreadyExists(error: unknown): boolean {
  return error instanceof ApiError && error.code === 409 && error.status.reason === 'AlreadyExists';
}

/** The server no longer has the requested resourceVersion or page. */
export function isExpired(error: unknown): boolean {
  return hasCode(error, 410);
}

/** The error of an answer: the server's own Status, or a proxy's text. */
export function apiErrorOf({ status, text }: Omit<TextResponse, 'headers'>): ApiError {
  return new ApiError(status, statusIn(text) ?? { message: plainMessage(status, text) });
}

/** A metav1.Status of any origin, as an error. */
export function apiErrorOfStatus(object: object): ApiError {
  const status = object as ApiStatus;
  return new ApiError(status.code ?? 500, status);
}

function statusIn(text: string): ApiStatus | undefined {
  try {
    const value = parseJson(text);
    const isStatus = typeof value === 'object' && value !== null && 'kind' in value;
    return isStatus && value['kind'] === 'Status' ? value : undefined;
  } catch {
    return undefined;
  }
}

function plainMessage(status: number, text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim().slice(0, 200);
  return `the server answered with HTTP status ${status}${line === '' ? '' : `: ${line}`}`;
}

/** The response of a request about one object; undefined when the object is deleted meanwhile. */
export async function unlessGone<T>(request: Promise<T>): Promise<T | undefined> {
  return await unless(isObjectNotFound, request);
}

/** The response of a request; undefined when the object or its kind does not exist. */
export async function unlessNotFound<T>(request: Promise<T>): Promise<T | undefined> {
  return await unless(isNotFound, request);
}

async function unless<T>(
  isExpected: (error: unknown) => boolean,
  request: Promise<T>,
): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isExpected(error)) return undefined;
    throw error;
  }
}
