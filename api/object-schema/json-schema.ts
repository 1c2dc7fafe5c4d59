import type { JsonObject, JsonValue } from '../json.ts';

/**
 * The validation fields of JSONSchemaProps (apiextensions.k8s.io/v1). The API server has checked
 * before that the schema is structural.
 */
export interface JsonSchema {
  readonly type?: string;
  readonly format?: string;
  readonly nullable?: boolean;
  readonly default?: JsonValue;
  readonly enum?: readonly JsonValue[];
  readonly minimum?: number | bigint;
  readonly maximum?: number | bigint;
  readonly exclusiveMinimum?: boolean;
  readonly exclusiveMaximum?: boolean;
  readonly multipleOf?: number | bigint;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly allOf?: readonly JsonSchema[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly not?: JsonSchema;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The schema of a property, otherwise that of additional properties. */
export function propertySchema(schema: JsonSchema, name: string): JsonSchema | undefined {
  return ownProperty(schema, name) ?? additionalSchema(schema);
}

/** The schema of one property; names such as `constructor` are ordinary properties. */
export function ownProperty({ properties }: JsonSchema, name: string): JsonSchema | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

export function additionalSchema({ additionalProperties }: JsonSchema): JsonSchema | undefined {
  return typeof additionalProperties === 'object' ? additionalProperties : undefined;
}

/** Numbers as Go decodes them from JSON: int64 if written as an integer, otherwise float64. */

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);

/** Whether Go stores it as int64. */
export function isInteger(value: number | bigint): boolean {
  return typeof value === 'bigint'
    ? value >= minInt64 && value <= maxInt64
    : Number.isSafeInteger(value);
}

/**
 * Whether a float counts as an integer: within 2^53, and with an error no larger than rounding
 * causes.
 */
export function isIntegral(value: number | bigint): boolean {
  const float = Number(value);
  if (Math.abs(float) > Number.MAX_SAFE_INTEGER) return false;
  const whole = Math.trunc(float);
  if (float === whole) return true;
  return whole !== 0 && Math.abs(float - whole) / (Math.abs(float) + Math.abs(whole)) < 1e-9;
}

/** A limit for an int64: without its fraction. */
export function truncated(bound: number | bigint): bigint {
  return typeof bound === 'bigint' ? bound : BigInt(Math.trunc(bound));
}

/**
 * The value as the API server reads it with a schema: drops a null that the schema does not allow,
 * and adds defaults. Does not change the value itself.
 */
export function withDefaults(value: JsonValue, schema: JsonSchema | undefined): JsonValue {
  if (schema === undefined) return value;
  if (isArray(value)) return value.map((item) => withDefaults(item, schema.items));
  if (!isObject(value)) return value;
  return Object.fromEntries([...presentFields(value, schema), ...missingFields(value, schema)]);
}

type Field = readonly [name: string, value: JsonValue];

function presentFields(object: JsonObject, schema: JsonSchema): readonly Field[] {
  return Object.entries(object).flatMap(([name, field]) => {
    const child = propertySchema(schema, name);
    const isDropped = field === null && child !== undefined && child.nullable !== true;
    const kept = isDropped ? child.default : field;
    return kept === undefined ? [] : [[name, withDefaults(kept, child)] as const];
  });
}

function missingFields(object: JsonObject, schema: JsonSchema): readonly Field[] {
  return Object.keys(schema.properties ?? {}).flatMap((name) => {
    const child = ownProperty(schema, name);
    if (child?.default === undefined || Object.hasOwn(object, name)) return [];
    return [[name, withDefaults(child.default, child)] as const];
  });
}
