import { type JsonObject, stringifyJson } from '../../../api/json.ts';
import { isMap, listOf, mapOf } from '../../../api/json-fields.ts';
import type { ObjectSchema } from '../kinds/openapi-documents.ts';

/** An object without the fields that its schema lacks, and their paths. */
interface PrunedObject<T> {
  readonly object: T;
  /** `spec.template.spec.containers[0].env[1]`, in the original object. */
  readonly paths: readonly string[];
}

/**
 * Drops fields that the schema does not declare, and all but the last of list items with the same
 * key. A create without server-side apply drops them silently; server-side apply refuses them.
 */
export function pruneToSchema<T>(object: T, { schema, components }: ObjectSchema): PrunedObject<T> {
  const pruner = new Pruner(components);
  const pruned = pruner.prune(object, schema, '') as T;
  return { object: pruned, paths: pruner.paths };
}

class Pruner {
  readonly paths: string[] = [];
  readonly #components: JsonObject;

  constructor(components: JsonObject) {
    this.#components = components;
  }

  prune(value: unknown, declared: unknown, path: string): unknown {
    const schema = effectiveSchema(declared, this.#components);
    if (isMap(value)) return this.#pruneMap(value, schema, path);
    return Array.isArray(value) ? this.#pruneList(value, schema, path) : value;
  }

  #pruneMap(value: JsonObject, schema: JsonObject, path: string): JsonObject {
    const properties = mapOf(schema['properties']);
    const others = schema['additionalProperties'];
    const open = isOpen(schema);
    const kept: [string, unknown][] = [];
    for (const [key, child] of Object.entries(value)) {
      const childPath = path === '' ? key : `${path}.${key}`;
      if (Object.hasOwn(properties, key)) {
        kept.push([key, this.prune(child, properties[key], childPath)]);
      } else if (isMap(others)) {
        kept.push([key, this.prune(child, others, childPath)]);
      } else if (open || (path === '' && typeFields.has(key)) || isEmbedded(schema, key)) {
        kept.push([key, child]);
      } else {
        this.paths.push(childPath);
      }
    }
    return Object.fromEntries(kept) as JsonObject;
  }

  #pruneList(items: readonly unknown[], schema: JsonObject, path: string): unknown[] {
    const identify = identityOf(schema, this.#components);
    const last = new Map(items.map((item, index) => [identify(item, index), index]));
    return items.flatMap((item, index) => {
      const itemPath = `${path}[${index}]`;
      if (last.get(identify(item, index)) === index) {
        return [this.prune(item, schema['items'], itemPath)];
      }
      this.paths.push(itemPath);
      return [];
    });
  }
}

const typeFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** True when a map may have more than its declared properties. */
function isOpen(schema: JsonObject): boolean {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return true;
  if (schema['additionalProperties'] === true) return true;
  return schema['properties'] === undefined && schema['additionalProperties'] === undefined;
}

function isEmbedded(schema: JsonObject, key: string): boolean {
  return schema['x-kubernetes-embedded-resource'] === true && typeFields.has(key);
}

type Identify = (item: unknown, index: number) => string;

function byIndex(_item: unknown, index: number): string {
  return `#${index}`;
}

/** How to compare two items of a list: by their keys, by their value, or not at all. */
function identityOf(schema: JsonObject, components: JsonObject): Identify {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return (item, index) =>
        typeof item === 'object' ? byIndex(item, index) : stringifyJson(item);
    case 'map': {
      const keys = listOf(schema['x-kubernetes-list-map-keys']).map(String);
      const properties = mapOf(effectiveSchema(schema['items'], components)['properties']);
      const defaults = keys.map((key) => mapOf(properties[key])['default']);
      return (item, index) => {
        if (keys.length === 0 || !isMap(item)) return byIndex(item, index);
        const values = keys.map((key, position) => item[key] ?? defaults[position]);
        // The server refuses an item without its key.
        return values.every((value) => value === undefined)
          ? byIndex(item, index)
          : stringifyJson(values);
      };
    }
    default:
      return byIndex;
  }
}

/**
 * Maximum number of nested references: a document with circular references must not cause an
 * endless loop.
 */
const maxReferences = 16;

/** A schema with its `$ref` resolved and its `allOf` merged; an empty one allows everything. */
function effectiveSchema(declared: unknown, components: JsonObject, depth = 0): JsonObject {
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
