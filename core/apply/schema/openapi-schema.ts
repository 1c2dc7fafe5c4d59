import type { JsonObject } from '../../../api/json.ts';
import { isMap, listOf, mapOf } from '../fields/json-fields.ts';

/** Schemas refer to schemas; a document that refers in circles must not hang us. */
const maxReferences = 16;

/** A schema with its `$ref` followed and its `allOf` merged in; an empty one allows everything. */
export function effectiveSchema(declared: unknown, components: JsonObject, depth = 0): JsonObject {
  if (!isMap(declared) || depth > maxReferences) return {};
  const { $ref: reference, allOf, ...own } = declared;
  const parts = [
    ...(typeof reference === 'string' ? [components[reference.split('/').at(-1) ?? '']] : []),
    ...listOf(allOf),
  ].map((part) => effectiveSchema(part, components, depth + 1));
  return parts.length === 0 ? declared : [...parts, own].reduce(merge, {});
}

function merge(left: JsonObject, right: JsonObject): JsonObject {
  const properties = { ...mapOf(left['properties']), ...mapOf(right['properties']) };
  return {
    ...left,
    ...right,
    ...(Object.keys(properties).length > 0 ? { properties } : {}),
  };
}
