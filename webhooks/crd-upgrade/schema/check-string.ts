import { matchesPattern } from './matches-pattern.ts';
import { Outcome } from './outcome.ts';
import type { Subject } from './subject.ts';
import { hasFormat, supportedFormat } from './supported-format.ts';
import { invalid, tooLong, wrongType } from './violations.ts';

/** Length and pattern; only the first fault is told. */
export function checkString({ value, schema, path }: Subject<string>): Outcome | undefined {
  const { maxLength, minLength, pattern } = schema;
  if (maxLength !== undefined && codePoints(value) > maxLength) {
    return Outcome.of(tooLong(path, maxLength));
  }
  if (minLength !== undefined && codePoints(value) < minLength) {
    const detail = `${path} in body should be at least ${minLength} chars long`;
    return Outcome.of(invalid(path, value, detail));
  }
  if (pattern !== undefined && pattern !== '' && !matchesPattern(pattern, value)) {
    const detail = `${path} in body should match '${pattern}'`;
    return Outcome.of(invalid(path, value, detail));
  }
  return undefined;
}

export function checkFormat({ value, schema, path }: Subject<string>): Outcome | undefined {
  const format = supportedFormat(schema);
  if (hasFormat(value, format)) return undefined;
  return Outcome.of(wrongType(path, format, 'string'));
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
