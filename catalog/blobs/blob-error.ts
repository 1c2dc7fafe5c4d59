import { errorMessage, TerminalError } from '../../core/errors.ts';

interface ErrorPlace {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
}

/**
 * What is wrong with a file of a catalog. The message is opm's, to the letter, and opm names no file:
 * whoever shows it to a person puts `place` in front of it.
 */
export class BlobError extends TerminalError {
  readonly place: ErrorPlace;

  constructor(message: string, place: ErrorPlace, options?: ErrorOptions) {
    super(message, options);
    this.place = { file: place.file, line: place.line };
  }
}

/** The same error, with its place where it has none. */
export function errorAt(error: unknown, place: ErrorPlace): unknown {
  if (error instanceof BlobError || !(error instanceof TerminalError)) return error;
  return new BlobError(errorMessage(error), place, { cause: error });
}

const longestShown = 65_536;

/** A text of a catalog as an error shows it: whole, unless nobody could read it. */
export function bounded(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
}

/** The error with file and line in front of its text, where it is of a blob or caused by one. */
export function placedError(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof BlobError)) continue;
    const { file, line } = cause.place;
    return new TerminalError(`${file}:${line}: ${errorMessage(error)}`, { cause: error });
  }
  return error;
}
