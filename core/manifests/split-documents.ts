import { TerminalError } from '../errors.ts';
import { shortened } from './yaml/yaml-error.ts';

export interface DocumentText {
  readonly text: string;
  /** Number of its first line in the file. */
  readonly firstLine: number;
}

/**
 * Splits YAML text at the lines that start with `---`, as kubectl does. Only spaces and a comment
 * may follow there. Documents without any text are left out.
 * @throws TerminalError for a line like `---foo`.
 */
export function* splitDocuments(text: string): Generator<DocumentText> {
  let start = 0;
  let firstLine = 1;
  for (let at = nextSeparator(text, 0); at !== -1; at = nextSeparator(text, start)) {
    if (at > start) yield { text: text.slice(start, at), firstLine };
    firstLine += countLines(text, start, at) + 1;
    start = endOfSeparator(text, at);
  }
  if (start < text.length) yield { text: text.slice(start), firstLine };
}

function nextSeparator(text: string, from: number): number {
  if (text.startsWith('---', from)) return from;
  const found = text.indexOf('\n---', from);
  return found === -1 ? -1 : found + 1;
}

function endOfSeparator(text: string, at: number): number {
  const newline = text.indexOf('\n', at);
  const end = newline === -1 ? text.length : newline + 1;
  const rest = text.slice(at + '---'.length, end).trim();
  if (rest !== '' && !rest.startsWith('#')) {
    throw new TerminalError(`invalid Yaml document separator: ${shortened(rest)}`);
  }
  return end;
}

function countLines(text: string, from: number, to: number): number {
  let lines = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) {
    lines += 1;
  }
  return lines;
}
