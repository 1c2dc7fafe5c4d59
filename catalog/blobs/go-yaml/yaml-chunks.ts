import { TerminalError } from '../../../core/errors.ts';

/** A document of a YAML stream, as opm splits it. */
export interface YamlChunk {
  readonly start: number;
  readonly end: number;
  /** Offset at which the search for the next document starts. */
  readonly next: number;
}

const separator = '---';

/**
 * The next document at or after the start of a line; undefined at the end. Lines that start with
 * `---` separate documents; such a line belongs to a document only if nothing precedes it, so that
 * two in a row make no document and three make an empty one.
 * @throws TerminalError for a line like `---foo`.
 */
export function nextChunk(bytes: Buffer, from: number): YamlChunk | undefined {
  if (from >= bytes.length) return undefined;
  const first = isSeparator(bytes, from) ? endOfSeparator(bytes, from) : from;
  const found = separatorAfter(bytes, first, from);
  return found === -1
    ? { start: from, end: bytes.length, next: bytes.length }
    : { start: from, end: found, next: endOfSeparator(bytes, found) };
}

function isSeparator(bytes: Buffer, at: number): boolean {
  return bytes.toString('latin1', at, at + separator.length) === separator;
}

function separatorAfter(bytes: Buffer, at: number, from: number): number {
  if (at > from && isSeparator(bytes, at)) return at;
  const found = bytes.indexOf(`\n${separator}`, at, 'latin1');
  return found === -1 ? -1 : found + 1;
}

function endOfSeparator(bytes: Buffer, at: number): number {
  const newline = bytes.indexOf(0x0a, at);
  const end = newline === -1 ? bytes.length : newline + 1;
  const rest = bytes.toString('utf8', at + separator.length, end).trim();
  if (rest !== '' && !rest.startsWith('#')) {
    throw new TerminalError(`invalid Yaml document separator: ${rest}`);
  }
  return end;
}
