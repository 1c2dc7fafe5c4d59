import type { JsonObject, JsonValue } from '../../api/json.ts';

/** The name of a value's type in Go's JSON decoder. */
export function jsonType(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'bigint' ? 'number' : typeof value;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The problem of the types in an object's apiVersion and metadata, in the words of Go's decoder;
 * undefined without one. Objects are kept as written, but later code relies on these types.
 */
export function checkMetadata(object: JsonObject): string | undefined {
  const { apiVersion, metadata } = object;
  if (typeof (apiVersion ?? '') !== 'string') {
    return mismatch(apiVersion, 'metadataOnlyObject.apiVersion', 'string');
  }
  if (metadata === undefined || metadata === null) return undefined;
  if (!isJsonObject(metadata)) {
    return mismatch(metadata, 'metadataOnlyObject.metadata', 'v1.ObjectMeta');
  }
  return checkFields(metadata, fields, 'ObjectMeta.metadata');
}

type Check = (value: JsonValue, field: string) => string | undefined;

const fields: Readonly<Record<string, Check>> = {
  annotations: mapOfStrings,
  creationTimestamp: time,
  deletionGracePeriodSeconds: integer,
  deletionTimestamp: time,
  finalizers: arrayOf('string', text),
  generateName: text,
  generation: integer,
  labels: mapOfStrings,
  name: text,
  namespace: text,
  ownerReferences: arrayOf('v1.OwnerReference', ownerReference),
  resourceVersion: text,
  selfLink: text,
  uid: (value, field) =>
    typeof value === 'string' ? undefined : mismatch(value, field, 'types.UID'),
};

const ownerFields: Readonly<Record<string, Check>> = {
  apiVersion: text,
  blockOwnerDeletion: flag,
  controller: flag,
  kind: text,
  name: text,
  uid: text,
};

function checkFields(
  object: JsonObject,
  checks: Readonly<Record<string, Check>>,
  path: string,
): string | undefined {
  for (const [name, check] of Object.entries(checks)) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (value === undefined || value === null) continue;
    const problem = check(value, `${path}.${name}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function mismatch(value: JsonValue | undefined, field: string, type: string): string {
  const found = typeof value === 'number' && type === 'int64' ? `number ${value}` : jsonType(value);
  return `json: cannot unmarshal ${found} into Go struct field ${field} of type ${type}`;
}

function text(value: JsonValue, field: string): string | undefined {
  return typeof value === 'string' ? undefined : mismatch(value, field, 'string');
}

function flag(value: JsonValue, field: string): string | undefined {
  return typeof value === 'boolean' ? undefined : mismatch(value, field, 'bool');
}

function integer(value: JsonValue, field: string): string | undefined {
  const whole = typeof value === 'bigint' || Number.isInteger(value);
  return whole ? undefined : mismatch(value, field, 'int64');
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d)$/;

function time(value: JsonValue, field: string): string | undefined {
  if (typeof value !== 'string') return mismatch(value, field, 'string');
  return rfc3339.test(value)
    ? undefined
    : `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00" failed in ${field}`;
}

function mapOfStrings(value: JsonValue, field: string): string | undefined {
  if (!isJsonObject(value)) return mismatch(value, field, 'map[string]string');
  for (const member of Object.values(value)) {
    if (typeof (member ?? '') !== 'string') return mismatch(member, field, 'string');
  }
  return undefined;
}

function arrayOf(type: string, check: Check): Check {
  return (value, field) => {
    if (!Array.isArray(value)) return mismatch(value, field, `[]${type}`);
    for (const item of value) {
      const problem = item === null ? undefined : check(item, field);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

function ownerReference(value: JsonValue, field: string): string | undefined {
  if (!isJsonObject(value)) return mismatch(value, field, 'v1.OwnerReference');
  return checkFields(value, ownerFields, field.replace('ObjectMeta', 'OwnerReference'));
}
