import { translatePattern } from './translate-pattern.ts';

/** A list of objects is checked with the same few patterns; all are dropped when they are many. */
const compiled = new Map<string, RegExp>();
const maxCompiled = 1_000;

/**
 * Whether a text matches a pattern of Go's regexp package. Runs as long as JavaScript's
 * backtracking takes: callers bound it. Throws where the pattern cannot be translated.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  return compile(pattern).test(text);
}

function compile(pattern: string): RegExp {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= maxCompiled) compiled.clear();
  const expression = translate(pattern);
  compiled.set(pattern, expression);
  return expression;
}

function translate(pattern: string): RegExp {
  try {
    return new RegExp(translatePattern(pattern), 'v');
  } catch (error) {
    throw new Error(`the pattern '${pattern}' cannot be checked`, { cause: error });
  }
}
