import type { JsonObject, JsonValue, KubernetesObject } from '../../../core/sdk.ts';

/** An object's name; empty when the manifest has none or an invalid one. */
export function objectName(object: KubernetesObject): string {
  return textOf(object, 'name');
}

/** `namespace/name`, or the name alone, as the manifest has them. */
export function objectPath(object: KubernetesObject): string {
  return [textOf(object, 'namespace'), objectName(object)].filter(Boolean).join('/');
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
  const identities = objects.map((object, index) => identityOf(object) ?? `#${index}`);
  const last = new Map(identities.map((identity, index) => [identity, index]));
  return objects.filter((_, index) => last.get(identities[index] ?? '') === index);
}

/**
 * What only one object of a cluster can have; undefined for an object without a name, which the API
 * server will refuse.
 */
export function identityOf(object: KubernetesObject): string | undefined {
  const name = objectName(object);
  if (name === '') return undefined;
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
