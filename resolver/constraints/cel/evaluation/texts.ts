import { RE2JS } from 're2js';
import { RuleRefusedError } from '../../requirement.ts';
import type { Steps } from './steps.ts';
import { failed, type Implementation, type Operands, type Result } from './values.ts';

/** A comparison of the beginning or end of a text. */
export function compared(holds: (text: string, part: string) => boolean): Implementation {
  return ([text, part], steps) => {
    if (typeof text !== 'string' || typeof part !== 'string') return failed;
    steps.read(part);
    return holds(text, part);
  };
}

/** Texts up to this length are searched by the engine, whose time may be their product. */
const shortPart = 8;

/** `contains` */
export function searched([text, part]: Operands, steps: Steps): Result {
  if (typeof text !== 'string' || typeof part !== 'string') return failed;
  steps.read(text, part);
  if (part.length <= shortPart || part.length >= text.length) return text.includes(part);
  steps.read(text, text, text, part, part, part);
  return includesInLinearTime(text, part);
}

/** Knuth, Morris and Pratt's search. */
function includesInLinearTime(text: string, part: string): boolean {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let at = 1; at < part.length; at += 1) {
    length = extended({ part, borders, length }, part.charCodeAt(at));
    borders[at] = length;
  }
  length = 0;
  for (let at = 0; at < text.length && length < part.length; at += 1) {
    length = extended({ part, borders, length }, text.charCodeAt(at));
  }
  return length === part.length;
}

interface Beginning {
  readonly part: string;
  /** Of each beginning of the part, the length of the longest one that it ends with. */
  readonly borders: Int32Array;
  readonly length: number;
}

/** The length of the longest beginning of the part that ends with one more unit. */
function extended({ part, borders, length }: Beginning, unit: number): number {
  let found = length;
  while (found > 0 && part.charCodeAt(found) !== unit) found = borders[found - 1] ?? 0;
  return part.charCodeAt(found) === unit ? found + 1 : found;
}

/** `matches` */
export function matched([text, pattern]: Operands, steps: Steps): Result {
  if (typeof text !== 'string' || typeof pattern !== 'string') return failed;
  return matches(text, pattern, steps);
}

/** Characters of a pattern, with its counted repetitions written out. */
const maxPattern = 1_000;

/**
 * Whether a text has a part that matches a pattern of RE2, in time linear in the text; a failure
 * for an invalid pattern.
 * @throws RuleRefusedError for a pattern that is too large.
 */
function matches(text: string, pattern: string, steps: Steps): Result {
  const weight = weightOf(pattern);
  if (weight > maxPattern) {
    throw new RuleRefusedError(
      `a pattern of matches() has more than ${maxPattern} characters with its repetitions written out: use a shorter one`,
    );
  }
  // Compiling takes about as long as matching a hundred characters.
  steps.take((weight * (text.length + 100)) / 20);
  const compiled = compile(pattern);
  return compiled === undefined ? failed : compiled.matcher(text).find();
}

/** Repetitions may be inside of each other, so that their counts multiply. */
function weightOf(pattern: string): number {
  const counts = pattern.matchAll(/\{(\d*),?(\d*)\}/g);
  return [...counts].reduce(
    (weight, [, least, most]) => weight * Math.max(1, Number(least), Number(most)),
    Math.max(1, pattern.length),
  );
}

function compile(pattern: string): RE2JS | undefined {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('RE2JS')) return undefined;
    throw error;
  }
}
