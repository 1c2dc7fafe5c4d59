import { RE2JS } from 're2js';
import { RuleRefusedError } from '../requirement.ts';
import { failed, type Result, type Steps } from './values.ts';

/** Characters of a pattern, with its counted repetitions written out. */
const maxPattern = 1_000;

/**
 * Whether a text has a part that matches a pattern of RE2, in time linear in the text; a failure
 * for an invalid pattern.
 * @throws RuleRefusedError for a pattern that is too large.
 */
export function matches(text: string, pattern: string, steps: Steps): Result {
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
