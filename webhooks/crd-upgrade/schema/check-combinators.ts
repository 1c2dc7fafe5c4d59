import type { JsonSchema } from './json-schema.ts';
import { Outcome } from './outcome.ts';
import type { Subject } from './subject.ts';
import { mismatch } from './violations.ts';

/** anyOf, oneOf, allOf and not. */
export function checkCombinators(subject: Subject): Outcome {
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

/** The first of those that got furthest. */
function closest(outcomes: readonly Outcome[]): Outcome | undefined {
  const [first, ...rest] = outcomes;
  if (first === undefined) return undefined;
  return rest.reduce((best, each) => (each.matches > best.matches ? each : best), first);
}
