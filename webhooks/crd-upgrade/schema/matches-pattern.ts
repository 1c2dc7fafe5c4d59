import { RE2JS } from 're2js';

/** A list of objects is checked with the same few patterns; all are dropped when they are many. */
const compiled = new Map<string, RE2JS>();
const maxCompiled = 1_000;

/**
 * Whether a text matches a pattern of Go's regexp package, in time that is linear in the text.
 * Throws where it is no such pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  return compile(pattern).matcher(text).find();
}

function compile(pattern: string): RE2JS {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  if (compiled.size >= maxCompiled) compiled.clear();
  const expression = parse(pattern);
  compiled.set(pattern, expression);
  return expression;
}

function parse(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    throw new Error(`the pattern '${pattern}' cannot be checked`, { cause: error });
  }
}
