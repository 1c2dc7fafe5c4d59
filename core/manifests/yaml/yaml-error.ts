import { TerminalError } from '../../errors.ts';

/** Levels of nesting that a document may have, aliases followed. Far above any real manifest. */
export const maxNesting = 256;

/** The error of a document, worded as Go's converter words it. Lines count from 1. */
export function yamlError(detail: string, line?: number): TerminalError {
  const place = line === undefined ? '' : `line ${line}: `;
  return new TerminalError(`error converting YAML to JSON: yaml: ${place}${shortened(detail)}`);
}

/** The error of a value that YAML knows and JSON does not. */
export function conversionError(detail: string): TerminalError {
  return new TerminalError(`error converting YAML to JSON: ${detail}`);
}

export function nestingError(): TerminalError {
  return yamlError(`exceeded max depth of ${maxNesting}`);
}

/** A text as an error can show it: on one line, and not too long. */
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
