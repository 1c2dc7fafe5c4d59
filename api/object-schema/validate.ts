import { createContext, Script } from 'node:vm';
import type { JsonValue } from '../json.ts';
import { supportedFormat } from './formats.ts';
import { isIntegral, type JsonSchema, withDefaults } from './json-schema.ts';
import { checkEmbeddedResources, checkList, checkObject } from './lists-and-objects.ts';
import { checkEnum, checkFormat, checkNumber, checkString } from './scalars.ts';
import {
  type Kind,
  kindOf,
  mismatch,
  Outcome,
  type Subject,
  type SubjectPart,
  typesOf,
  wrongType,
} from './subject.ts';

/**
 * The problems of an object under a structural schema, in the API server's own words: each text
 * starts with `[]`, the root. Adds defaults before, and accepts unknown fields, which would be
 * pruned. Does not check CEL rules and list types.
 */
export function validateObject(object: JsonValue, schema: JsonSchema): Outcome {
  const value = withDefaults(object, schema);
  const outcome = validate({ value, schema, path: '' });
  for (const text of checkEmbeddedResources({ value, schema, path: '' })) outcome.add(text);
  return outcome;
}

interface Rule {
  readonly applies: (subject: Subject, kind: Kind) => boolean;
  // Called with the kinds of values that it applies to.
  readonly check: (subject: Subject<never>) => Outcome | undefined;
}

const always = () => true;

/** In the order of the API server's validator, which decides what is reported. */
const rules: readonly Rule[] = [
  { applies: ({ schema }) => isTyped(schema), check: checkType },
  { applies: always, check: checkCombinators },
  { applies: (_subject, kind) => kind === 'string', check: checkString },
  {
    applies: ({ schema }, kind) => kind === 'string' && supportedFormat(schema) !== '',
    check: checkFormat,
  },
  { applies: (_subject, kind) => kind === 'integer' || kind === 'number', check: checkNumber },
  { applies: (_subject, kind) => kind === 'array', check: checkList },
  { applies: always, check: checkEnum },
  { applies: (_subject, kind) => kind === 'object', check: checkObject },
];

function validate(part: SubjectPart): Outcome {
  const subject: Subject = { ...part, validate };
  const outcome = new Outcome();
  if (part.value === null) {
    outcome.merge(checkType(subject));
    outcome.merge(checkEnum(subject));
    return outcome;
  }
  const kind = kindOf(part.value);
  for (const { applies, check } of rules) {
    if (!applies(subject, kind)) continue;
    outcome.merge(check(subject as Subject<never>));
    outcome.matches += 1;
  }
  outcome.matches += 1;
  return outcome;
}

function isTyped(schema: JsonSchema): boolean {
  return typesOf(schema).length > 0 || supportedFormat(schema) !== '';
}

/** The formats that Go's validator infers from a value's type alone. */
const inherentFormat: Partial<Record<Kind, string>> = { integer: 'int64', number: 'float64' };

/** Whether the value has the type, by go-openapi's rules: a format can relax the check. */
function checkType(subject: Subject): Outcome {
  const { value, schema, path } = subject;
  const types = typesOf(schema);
  const kind = kindOf(value);
  const isRight =
    kind === 'null' ? types.length === 0 || schema.nullable === true : hasType(subject, kind);
  if (isRight) {
    const outcome = new Outcome();
    outcome.matches = 1;
    return outcome;
  }
  const format = supportedFormat(schema);
  const inherent = inherentFormat[kind] ?? '';
  const isTold = format !== '' && isScalarOrObject(kind) && format !== inherent;
  return Outcome.of(
    isTold ? wrongType(path, format, inherent) : wrongType(path, types.join(','), kind),
  );
}

function hasType({ value, schema }: Subject, kind: Kind): boolean {
  const types = typesOf(schema);
  if (types.includes(kind)) return true;
  if (kind === 'integer') return types.includes('number');
  if (kind === 'number') return types.includes('integer') && isIntegral(Number(value));
  // The format's own check reports it; it does not apply to lists.
  const isNumeric = types.includes('number') || types.includes('integer');
  return supportedFormat(schema) !== '' && !isScalarOrObject(kind) && !isNumeric;
}

/** Kinds to which formats of strings do not apply. */
function isScalarOrObject(kind: Kind): boolean {
  return kind !== 'string' && kind !== 'array' && kind !== 'null';
}

/** anyOf, oneOf, allOf and not. */
function checkCombinators(subject: Subject): Outcome {
  const outcome = new Outcome();
  outcome.merge(checkAnyOf(subject));
  outcome.merge(checkOneOf(subject));
  outcome.merge(checkAllOf(subject));
  const { not } = subject.schema;
  if (not !== undefined && against(subject, not).isValid) {
    outcome.add(mismatch(subject.path, 'must not validate the schema (not)'));
  }
  outcome.matches += 1;
  return outcome;
}

function against({ value, path, validate }: Subject, schema: JsonSchema): Outcome {
  return validate({ value, path, schema });
}

function checkAnyOf(subject: Subject): Outcome | undefined {
  const { anyOf = [] } = subject.schema;
  if (anyOf.length === 0) return undefined;
  const failed: Outcome[] = [];
  for (const schema of anyOf) {
    const result = against(subject, schema);
    if (result.isValid) return result;
    failed.push(result);
  }
  const outcome = Outcome.of(mismatch(subject.path, 'must validate at least one schema (anyOf)'));
  outcome.merge(closest(failed));
  return outcome;
}

function checkOneOf(subject: Subject): Outcome | undefined {
  const { oneOf = [] } = subject.schema;
  if (oneOf.length === 0) return undefined;
  const results = oneOf.map((schema) => against(subject, schema));
  const valid = results.filter(({ isValid }) => isValid);
  if (valid.length === 1) return valid[0];
  const found =
    valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
  const outcome = Outcome.of(
    mismatch(subject.path, `must validate one and only one schema (oneOf). ${found}`),
  );
  if (valid.length === 0) outcome.merge(closest(results));
  return outcome;
}

function checkAllOf(subject: Subject): Outcome | undefined {
  const { allOf = [] } = subject.schema;
  if (allOf.length === 0) return undefined;
  const results = allOf.map((schema) => against(subject, schema));
  const outcome = new Outcome();
  for (const result of results) outcome.merge(result);
  if (results.every(({ isValid }) => isValid)) return outcome;
  const none = results.some(({ isValid }) => isValid) ? '' : '. None validated';
  outcome.add(mismatch(subject.path, `must validate all the schemas (allOf)${none}`));
  return outcome;
}

/** The first of those with the most matches. */
function closest(outcomes: readonly Outcome[]): Outcome | undefined {
  const [first, ...rest] = outcomes;
  if (first === undefined) return undefined;
  return rest.reduce((best, each) => (each.matches > best.matches ? each : best), first);
}

const call = new Script('task()');
const holder: { task?: () => unknown } = {};
const context = createContext(holder);

/** Far more than any honest object and schema need. */
const defaultLimit = 1_000;
/** On a busy machine, a task may wait this many times as long as it works. */
const patience = 5;

/**
 * Runs a task without side effects, and throws when it exceeds the limit (milliseconds of processor
 * time), because a CRD's rules for one value can multiply with those for others. Throws as well
 * when nesting exceeds the stack.
 */
export function bounded<T>(task: () => T, limit = defaultLimit): T {
  const before = process.threadCpuUsage();
  try {
    return interrupted(task, limit);
  } catch (error) {
    const { user, system } = process.threadCpuUsage(before);
    // Others had the processor.
    const hasTimeLeft = isTimeout(error) && (user + system) / 1_000 < limit;
    if (!hasTimeLeft) throw explained(error, limit);
  }
  try {
    return interrupted(task, limit * patience);
  } catch (error) {
    throw explained(error, limit);
  }
}

/** Only a limit by the clock can interrupt a task. */
function interrupted<T>(task: () => T, timeout: number): T {
  let result: { readonly value: T } | undefined;
  holder.task = () => {
    result = { value: task() };
  };
  try {
    call.runInContext(context, { timeout });
  } finally {
    delete holder.task;
  }
  if (result === undefined) throw new Error('the task has not run');
  return result.value;
}

function explained(error: unknown, limit: number): unknown {
  if (error instanceof RangeError) return new Error('it is nested too deeply', { cause: error });
  if (!isTimeout(error)) return error;
  return new Error(`it takes longer than ${limit} ms`, { cause: error });
}

function isTimeout(error: unknown): boolean {
  // It is an Error of the vm context, so instanceof does not recognize it.
  const { code } = Object(error) as { readonly code?: unknown };
  return code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}
