import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { additionalSchema, ownProperty } from './json-schema.ts';
import { Outcome } from './outcome.ts';
import type { Subject } from './subject.ts';
import { invalid, required, tooMany } from './violations.ts';

type ObjectSubject = Subject<JsonObject>;

/** The properties, how many there are, and that none is missing. Unknown ones are no fault. */
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
