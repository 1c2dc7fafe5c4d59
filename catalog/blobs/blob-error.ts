import { errorMessage, TerminalError } from '../../core/errors.ts';

interface ErrorPlace {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
}

/**
 * An error in a file of a catalog. The message is exactly opm's, which names no file: callers that
 * show it to a person prefix it with `place`.
 */
export class BlobError extends TerminalError {
  readonly place: ErrorPlace;

  constructor(message: string, place: ErrorPlace, options?: ErrorOptions) {
    super(message, options);
    this.place = { file: place.file, line: place.line };
  }
}

/** A TerminalError as a BlobError at `place`; any other error, and a BlobError, unchanged. */
export function errorAt(error: unknown, place: ErrorPlace): unknown {
  if (error instanceof BlobError || !(error instanceof TerminalError)) return error;
  return new BlobError(errorMessage(error), place, { cause: error });
}

const longestShown = 65_536;

/** A text of a catalog for an error message, cut after `longestShown` characters. */
export function bounded(text: string): string {
  return text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
}

/**
 * Prefixes the text of a BlobError, or of an error caused by one, with file and line, if it is one of
 * a file: blobs of templates and of stored catalogs are not.
 */
export function placedError(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof BlobError)) continue;
    const { file, line } = cause.place;
    if (file === '') return error;
    return new TerminalError(`${file}:${line}: ${errorMessage(error)}`, { cause: error });
  }
  return error;
}
