import { isAscii } from 'node:buffer';
import { TerminalError } from '../../errors.ts';

/**
 * Text of a manifest: UTF-8 without a byte order mark, with a single line feed at the end of every
 * line.
 * @throws TerminalError for bytes that are not UTF-8 and for control characters, as in Go.
 */
export function decodeYamlText(content: Uint8Array | string): string {
  const written = typeof content === 'string' ? content.replace(/^\uFEFF/, '') : decode(content);
  // Go reads a second mark as a blank.
  const decoded = written.replace(/^\uFEFF/, ' ');
  const isPlain = typeof content !== 'string' && isAscii(content);
  if (isPlain ? hasAsciiControl(decoded) : controlCharacter.test(decoded)) {
    throw yamlError('control characters are not allowed');
  }
  const text = decoded.includes('\r') ? decoded.replace(/\r\n?/g, '\n') : decoded;
  return text.endsWith('\n') ? text : `${text}\n`;
}

// Characters outside of YAML's character set, including the delete character and most of C1.
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const controlCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

// The part below the delete character takes half as long to search for.
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const asciiControl = /[\0-\x08\x0b\x0c\x0e-\x1f]/;

function hasAsciiControl(text: string): boolean {
  return asciiControl.test(text) || text.includes('\x7f');
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function decode(content: Uint8Array): string {
  try {
    return decoder.decode(content);
  } catch {
    throw yamlError('invalid leading UTF-8 octet');
  }
}

/** Maximum nesting of a document, with aliases resolved; far above any real manifest. */
export const maxNesting = 256;

/** The error of a document in the words of Go's converter. Lines count from 1. */
export function yamlError(detail: string, line?: number): TerminalError {
  const place = line === undefined ? '' : `line ${line}: `;
  return new TerminalError(`error converting YAML to JSON: yaml: ${place}${shortened(detail)}`);
}

/** The error of a value that exists in YAML but not in JSON. */
export function conversionError(detail: string): TerminalError {
  return new TerminalError(`error converting YAML to JSON: ${detail}`);
}

export function nestingError(): TerminalError {
  return yamlError(`exceeded max depth of ${maxNesting}`);
}

/** A text for an error: on one line, and shortened. */
export function shortened(text: string): string {
  const shown = text.length <= longestShown ? text : `${text.slice(0, longestShown)}…`;
  return shown.replaceAll(/\p{Cc}/gu, (character) => {
    const written = JSON.stringify(character).slice(1, -1);
    return written.startsWith('\\') ? written : `\\x${character.charCodeAt(0).toString(16)}`;
  });
}

const longestShown = 1000;

/** Line of an offset in a text whose first line is `firstLine`. */
export function lineAt(text: string, offset: number, firstLine: number): number {
  let line = firstLine;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) {
    line += 1;
  }
  return line;
}
