import type { JsonObject, JsonValue } from '../../../api/json.ts';
import { isArray, isObject, type JsonSchema, propertySchema } from './json-schema.ts';
import type { SubjectPart } from './subject.ts';
import { invalid, required } from './violations.ts';

/**
 * What is wrong with the objects that are parts of a value: each must say its apiVersion and kind.
 * Their metadata is not checked.
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

/** The key of a map is in brackets here, other than in the rest of the API server's texts. */
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
