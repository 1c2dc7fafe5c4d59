import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { isArray, isObject, type JsonSchema, ownProperty, propertySchema } from './json-schema.ts';

/**
 * The value as the API server reads it under a schema: a null that the schema does not allow is
 * dropped, and what is missing gets its default. The value itself is not changed.
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
