import { isDeepStrictEqual } from 'node:util';
import { RE2JS } from 're2js';
import { goQuote } from '../go-quote.ts';
import { type JsonValue, stringifyJson } from '../json.ts';
import { hasFormat, supportedFormat } from './formats.ts';
import { isInteger, isIntegral, truncated } from './json-schema.ts';
import { invalid, Outcome, type Subject, tooLong, unsupported, wrongType } from './subject.ts';

/** Checks length and pattern; reports only the first problem. */
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

/**
 * Cache of compiled patterns, because a list of objects uses the same few; emptied when it is full.
 */
const compiled = new Map<string, RE2JS>();
const maxCompiled = 1_000;

/**
 * Whether a text matches a pattern of Go's regexp package, in time linear in the text.
 * @throws Error for an invalid pattern.
 */
function matchesPattern(pattern: string, text: string): boolean {
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

type NumberSubject = Subject<number | bigint>;

/**
 * Checks multipleOf, minimum and maximum. Compares integers exactly, with limits cut to integers.
 */
export function checkNumber(subject: NumberSubject): Outcome {
  const outcome = new Outcome();
  for (const check of [multipleOfFault, minimumFault, maximumFault]) {
    const fault = check(subject);
    if (fault !== undefined) outcome.add(fault);
  }
  outcome.matches += 1;
  return outcome;
}

/** A limit as it is compared and printed. */
function bound({ value }: NumberSubject, limit: number | bigint): number | bigint {
  return isInteger(value) ? truncated(limit) : Number(limit);
}

function multipleOfFault(subject: NumberSubject): string | undefined {
  const { value, schema, path } = subject;
  if (schema.multipleOf === undefined) return undefined;
  const factor = bound(subject, schema.multipleOf);
  if (factor <= 0) {
    const detail = `factor MultipleOf declared for ${path} must be positive: ${goNumber(factor)}`;
    return invalid(path, value, detail);
  }
  if (isMultiple(value, factor)) return undefined;
  return invalid(path, value, `${path} in body should be a multiple of ${goNumber(factor)}`);
}

function isMultiple(value: number | bigint, factor: number | bigint): boolean {
  if (typeof factor === 'bigint') return BigInt(value) % factor === 0n;
  const float = Number(value);
  return isIntegral(factor < 1 ? (1 / factor) * float : float / factor);
}

function minimumFault(subject: NumberSubject): string | undefined {
  const { value, schema, path } = subject;
  if (schema.minimum === undefined) return undefined;
  const limit = bound(subject, schema.minimum);
  const isExclusive = schema.exclusiveMinimum === true;
  if (isExclusive ? value > limit : value >= limit) return undefined;
  const relation = isExclusive ? 'greater than' : 'greater than or equal to';
  return invalid(path, value, `${path} in body should be ${relation} ${goNumber(limit)}`);
}

function maximumFault(subject: NumberSubject): string | undefined {
  const { value, schema, path } = subject;
  if (schema.maximum === undefined) return undefined;
  const limit = bound(subject, schema.maximum);
  const isExclusive = schema.exclusiveMaximum === true;
  if (isExclusive ? value < limit : value <= limit) return undefined;
  const relation = isExclusive ? 'less than' : 'less than or equal to';
  return invalid(path, value, `${path} in body should be ${relation} ${goNumber(limit)}`);
}

/**
 * Null is never one of the values, even if the schema lists it, as in the API server's validator.
 */
export function checkEnum({ value, schema, path }: Subject): Outcome | undefined {
  const { enum: supported = [] } = schema;
  if (supported.length === 0) return undefined;
  if (value !== null && supported.some((each) => isSame(each, value))) return undefined;
  const texts = supported.map((each) =>
    goQuote(typeof each === 'string' ? each : stringifyJson(each)),
  );
  return Outcome.of(unsupported(path, value, texts));
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  return typeof a === 'bigint' || typeof b === 'bigint'
    ? typeof a !== 'object' && typeof b !== 'object' && String(a) === String(b)
    : isDeepStrictEqual(a, b);
}

/**
 * `%v` of a number, as in the API server's texts: floats with an exponent of at least two digits
 * from 1e21 and below 1e-4.
 */
function goNumber(value: number | bigint): string {
  if (isInteger(value)) return value.toString();
  const float = Number(value);
  const small = float !== 0 && Math.abs(float) < 1e-4;
  const text = small ? float.toExponential() : String(float);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}
