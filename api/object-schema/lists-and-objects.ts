import { type JsonObject, type JsonValue, stringifyJson } from '../json.ts';
import {
  additionalSchema,
  isArray,
  isObject,
  type JsonSchema,
  ownProperty,
  propertySchema,
} from './json-schema.ts';
import { invalid, Outcome, required, type Subject, type SubjectPart, tooMany } from './subject.ts';

/** Checks the items, their number, and their uniqueness. */
export function checkList({
  value,
  schema,
  path,
  validate,
}: Subject<readonly JsonValue[]>): Outcome {
  const outcome = new Outcome();
  const { items, minItems, maxItems, uniqueItems } = schema;
  if (items !== undefined) {
    for (const [index, item] of value.entries()) {
      outcome.merge(validate({ value: item, schema: items, path: `${path}[${index}]` }));
    }
  }
  const { length } = value;
  if (minItems !== undefined && length < minItems) {
    const detail = `${path} in body should have at least ${minItems} items`;
    outcome.add(invalid(path, value, detail));
  }
  if (maxItems !== undefined && length > maxItems) outcome.add(tooMany(path, maxItems));
  if (uniqueItems === true && hasDuplicates(value)) {
    outcome.add(invalid(path, value, `${path} in body shouldn't contain duplicates`));
  }
  outcome.matches += 1;
  return outcome;
}

function hasDuplicates(items: readonly JsonValue[]): boolean {
  return new Set(items.map(canonical)).size < items.length;
}

/** Equal text for equal values, with any order of fields. */
function canonical(value: JsonValue): string {
  return stringifyJson(sorted(value));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, field]) => [name, sorted(field)]));
}

type ObjectSubject = Subject<JsonObject>;

/** Checks the properties, their number, and required ones. Unknown properties are valid. */
export function checkObject(subject: ObjectSubject): Outcome {
  const outcome = new Outcome();
  checkCount(subject, outcome);
  checkAdditional(subject, outcome);
  checkProperties(subject, outcome);
  for (const name of subject.schema.required ?? []) {
    if (!Object.hasOwn(subject.value, name)) outcome.add(required(`${subject.path}.${name}`));
  }
  return outcome;
}

function checkCount({ value, schema, path }: ObjectSubject, outcome: Outcome): void {
  const { minProperties, maxProperties } = schema;
  const count = Object.keys(value).length;
  if (minProperties !== undefined && count < minProperties) {
    const detail = `${path} in body should have at least ${minProperties} properties`;
    outcome.add(invalid(path, value, detail));
  }
  if (maxProperties !== undefined && count > maxProperties) {
    outcome.add(tooMany(path, maxProperties));
  }
}

function checkAdditional(subject: ObjectSubject, outcome: Outcome): void {
  const { value, schema, path, validate } = subject;
  const additional = additionalSchema(schema);
  if (additional === undefined && schema.additionalProperties !== false) return;
  for (const [name, field] of Object.entries(value)) {
    if (ownProperty(schema, name) !== undefined) continue;
    const at = `${path}.${name}`;
    if (additional === undefined) {
      outcome.add(invalid(path, value, `${at} in body is a forbidden property`));
    } else {
      outcome.merge(validate({ value: field as JsonValue, schema: additional, path: at }));
    }
  }
}

function checkProperties(subject: ObjectSubject, outcome: Outcome): void {
  const { value, schema, path, validate } = subject;
  for (const name of Object.keys(schema.properties ?? {})) {
    const child = ownProperty(schema, name);
    if (child === undefined || !Object.hasOwn(value, name)) continue;
    const at = path === '' ? name : `${path}.${name}`;
    outcome.merge(validate({ value: value[name] as JsonValue, schema: child, path: at }));
  }
}

/**
 * The problems of embedded objects: each needs an apiVersion and a kind. Does not check their
 * metadata.
 */
export function checkEmbeddedResources({ value, schema, path }: SubjectPart): readonly string[] {
  if (isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.flatMap((item, index) =>
      checkEmbeddedResources({ value: item, schema: items, path: `${path}[${index}]` }),
    );
  }
  if (!isObject(value)) return [];
  const own = schema['x-kubernetes-embedded-resource'] === true ? checkTypeMeta(value, path) : [];
  const parts = Object.entries(value).flatMap(([name, field]) => {
    const child = propertySchema(schema, name);
    if (child === undefined || field === undefined) return [];
    return checkEmbeddedResources({ value: field, schema: child, path: at(schema, path, name) });
  });
  return [...own, ...parts];
}

/** Here the API server's texts put the key of a map into brackets, unlike elsewhere. */
function at({ properties }: JsonSchema, path: string, name: string): string {
  const isProperty = properties !== undefined && Object.hasOwn(properties, name);
  return isProperty ? `${path}.${name}` : `${path}[${name}]`;
}

function checkTypeMeta(object: JsonObject, path: string): readonly string[] {
  return ['apiVersion', 'kind'].flatMap((name) => {
    const value: JsonValue | undefined = object[name];
    const field = `${path}.${name}`;
    if (value === undefined) return [required(field)];
    if (typeof value !== 'string') return [invalid(field, value, 'must be a string')];
    return value === '' ? [invalid(field, value, 'must not be empty')] : [];
  });
}
