import { goNumber } from './go-text.ts';
import { isInteger, isIntegral, truncated } from './numbers.ts';
import { Outcome } from './outcome.ts';
import type { Subject } from './subject.ts';
import { invalid } from './violations.ts';

type NumberSubject = Subject<number | bigint>;

/** multipleOf, minimum and maximum. Integers are compared exactly, with bounds that are cut to one. */
export function checkNumber(subject: NumberSubject): Outcome {
  const outcome = new Outcome();
  for (const check of [multipleOfFault, minimumFault, maximumFault]) {
    const fault = check(subject);
    if (fault !== undefined) outcome.add(fault);
  }
  outcome.matches += 1;
  return outcome;
}

/** A bound as it is compared with the value and printed. */
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
