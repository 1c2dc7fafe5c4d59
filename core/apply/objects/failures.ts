import { errorMessage, TerminalError } from '../../errors.ts';
import { ApiError, isNotFound } from '../../platform/kube/index.ts';
import type { DesiredObject } from './desired.ts';
import { failedReason, type Operation } from './operation.ts';

export interface ApplyFailure {
  readonly object: Pick<DesiredObject, 'resource' | 'key'>;
  readonly action: 'create' | 'patch' | 'delete';
  readonly error: unknown;
}

const listedFailures = 20;

/** RukPak's prefix for a required object that is missing. */
export const missingResource = 'required resource not found: ';

/** RukPak's prefix for a list of kinds that the cluster does not serve. */
export const unknownKind = 'error while running post render on files: ';

/** Whether a namespace or a kind was missing, which others may still create. */
export function isAboutMissing(error: unknown): boolean {
  const message = errorMessage(error);
  return message.startsWith(missingResource) || message.startsWith(unknownKind);
}

/**
 * One error for all failures: a TerminalError with the operation's reason when the API server
 * refused something; an ordinary error when it could only not answer.
 */
export function failuresError(failures: readonly ApplyFailure[], operation: Operation): Error {
  const refused = failures.filter(({ error }) => !isTransient(error));
  if (refused.length === 0) return transientError(failures);
  // Missing objects come first, because their message carries the prefix.
  const sorted = refused.toSorted(
    (a, b) => Number(isNotFound(b.error)) - Number(isNotFound(a.error)),
  );
  const texts = [...new Set(sorted.map((failure) => failureText(failure, operation)))];
  const more = texts.length - listedFailures;
  const listed = texts.slice(0, listedFailures).join(' && ');
  const prefix = sorted.some(({ error }) => isNotFound(error)) ? missingResource : '';
  return new TerminalError(`${prefix}${listed}${more > 0 ? ` && ${more} more` : ''}`, {
    reason: failedReason[operation],
    cause: sorted[0]?.error,
  });
}

/** Throws one error for all failures, if any; an abort of the signal has priority. */
export function throwAny(
  failures: readonly ApplyFailure[],
  operation: Operation,
  signal: AbortSignal,
): void {
  signal.throwIfAborted();
  if (failures.length > 0) throw failuresError(failures, operation);
}

/** Conflicts, overload, an unavailable server or webhook: the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof TerminalError) return false;
  if (!(error instanceof ApiError)) return true;
  // The server responds 500 to content that its types cannot hold.
  if (/failed to create typed patch object/.test(error.message)) return false;
  return error.code === 401 || error.code === 409 || error.code === 429 || error.code >= 500;
}

function transientError(failures: readonly ApplyFailure[]): Error {
  const [first] = failures;
  const subject = first === undefined ? '' : `${first.action} ${nameOf(first)}: `;
  return new Error(`${subject}${errorMessage(first?.error)}`, { cause: first?.error });
}

function failureText(failure: ApplyFailure, operation: Operation): string {
  const { object, error, action } = failure;
  const text = errorMessage(error);
  const named =
    text.includes(object.key.name) || isNotFound(error) ? text : `${nameOf(failure)}: ${text}`;
  if (action === 'delete') return `cannot delete ${nameOf(failure)}: ${text}`;
  if (operation === 'reconcile') return `${action} error: ${named}`;
  return operation === 'upgrade' && action === 'patch'
    ? `cannot patch "${object.key.name}" with kind ${object.resource.kind}: ${text}`
    : named;
}

function nameOf({ object: { resource, key } }: ApplyFailure): string {
  const name = key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
  return `${resource.kind} "${name}"`;
}
