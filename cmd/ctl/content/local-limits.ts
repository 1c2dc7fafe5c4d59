import { errorMessage, TerminalError } from '../../../core/errors.ts';

/** Messages about limits name flags of core, which rukpakctl does not have. */
export function withCoreFlags(message: string): string {
  return message.replaceAll(
    /\(((?:50 times )?--max-content-[a-z-]+|--content-timeout)\)/g,
    '($1 of core; rukpakctl uses its default)',
  );
}

/** An error about content that rukpakctl itself reads; `place` is the directory, if known. */
export function localError(error: unknown, place?: string): unknown {
  const message = errorMessage(error);
  const local = withCoreFlags(message);
  if (local === message) return error;
  return new TerminalError(place === undefined ? local : `${place}: ${local}`, { cause: error });
}
