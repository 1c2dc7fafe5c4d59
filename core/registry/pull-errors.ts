import { errorMessage, TerminalError, WaitingError } from '../errors.ts';
import type { Keychain } from './keychain.ts';
import type { PullPlace, PullPlaces } from './pull-places.ts';
import { DeniedError, UnavailableError } from './registry-errors.ts';

/** What part of a pull failed at one place. */
export class PullFailure {
  readonly doing: 'fetching image descriptor' | 'verifying image signature' | 'unpacking image';
  readonly error: unknown;

  constructor(doing: PullFailure['doing'], error: unknown) {
    this.doing = doing;
    this.error = error;
  }
}

/** What the reconciler is to do about a failed pull, and say. */
export function pullError(
  { doing, error }: PullFailure,
  { ref, pinned }: { readonly ref: string; readonly pinned: boolean },
): Error {
  const text = errorMessage(error);
  if (error instanceof UnavailableError) {
    return new WaitingError(`Back-off pulling image "${ref}": ${text}`, { cause: error });
  }
  const message = `error ${doing}: ${text}`;
  // What a tag points to can be put right by a push; what a digest names stays as it is.
  return pinned && error instanceof TerminalError
    ? new TerminalError(message, { cause: error })
    : new Error(message, { cause: error });
}

/** The failures of all places as one, in which each place is named with its cause. */
export function joinedFailure(
  failures: readonly PullFailure[],
  { places, blocked }: PullPlaces,
  { shortcoming }: Pick<Keychain, 'shortcoming'>,
): PullFailure {
  const errors = failures.map(({ error }) => error);
  const isDenied = errors.some((error) => error instanceof DeniedError);
  const notes = [
    ...(blocked === undefined ? [] : [blocked]),
    ...(isDenied && shortcoming !== undefined ? [shortcoming] : []),
  ];
  const [first] = failures;
  if (first !== undefined && failures.length === 1 && notes.length === 0) return first;
  const texts = errors.map((error, index) => named(places[index], errorMessage(error)));
  const doing = failures.at(-1)?.doing ?? 'fetching image descriptor';
  return new PullFailure(doing, errorLike(errors, [...new Set([...texts, ...notes])].join('; ')));
}

function named(place: PullPlace | undefined, text: string): string {
  const domain = place?.reference.domain ?? '';
  return text.includes(domain) ? text : `registry ${domain}: ${text}`;
}

/** One that may pass keeps all of them worth another try, and worth waiting for. */
function errorLike(errors: readonly unknown[], text: string): Error {
  const cause = new AggregateError(errors);
  if (errors.some((error) => error instanceof UnavailableError)) {
    return new UnavailableError(text, { cause });
  }
  if (errors.every((error) => error instanceof TerminalError)) {
    return new TerminalError(text, { cause });
  }
  return new Error(text, { cause });
}
