import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';

/** An object's name; empty when the manifest has none or an invalid one. */
export function objectName(object: KubernetesObject): string {
  return textOf(object, 'name');
}

/** The group of an apiVersion; empty for the core API, and for an invalid apiVersion. */
export function groupOf(apiVersion: unknown): string {
  if (typeof apiVersion !== 'string') return '';
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

/**
 * True for an object of a kind of the core API. OLM reads these kinds also without a version, so
 * bundles omit it.
 */
export function isOfCoreKind(object: KubernetesObject, kind: string): boolean {
  return object.kind === kind && groupOf(object.apiVersion) === '';
}

/**
 * Keeps each object once: of several with one group, kind, namespace and name the last, at its own
 * position. The version does not count, because the API server has one object for all versions.
 */
export function uniqueObjects(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const last = new Map(objects.map((object, index) => [identityOf(object, index), index]));
  return objects.filter((object, index) => last.get(identityOf(object, index)) === index);
}

function identityOf(object: KubernetesObject, index: number): string {
  const name = objectName(object);
  // Objects without a name are never equal; the API server will refuse each of them.
  if (name === '') return `#${index}`;
  return JSON.stringify([
    groupOf(object.apiVersion),
    object.kind,
    textOf(object, 'namespace'),
    name,
  ]);
}

// Manifests are read without a schema: metadata may be missing, a number, a list.
function textOf(object: KubernetesObject, key: 'name' | 'namespace'): string {
  const value = fieldOf(object.metadata as JsonValue | undefined, key);
  return typeof value === 'string' ? value : '';
}

/** A field of a map; undefined when absent, or when there is no map. */
export function fieldOf(map: JsonValue | undefined, name: string): JsonValue | undefined {
  return isMap(map) && Object.hasOwn(map, name) ? map[name] : undefined;
}

/** The items of a list; none for anything else. */
export function itemsOf(list: JsonValue | undefined): readonly JsonValue[] {
  return isList(list) ? list : [];
}

export function isMap(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
