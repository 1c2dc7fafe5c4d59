import type { KubernetesObject } from '../../../core/sdk.ts';

/** An object's name, or an empty text where the manifest has none or something else in its place. */
export function objectName(object: KubernetesObject): string {
  return textOf(object, 'name');
}

/** An object's namespace; empty as for `objectName`. */
export function objectNamespace(object: KubernetesObject): string {
  return textOf(object, 'namespace');
}

// Manifests are read without a schema: metadata may be missing, a number, a list.
function textOf(object: KubernetesObject, key: 'name' | 'namespace'): string {
  const metadata: unknown = object.metadata;
  if (typeof metadata !== 'object' || metadata === null || !(key in metadata)) return '';
  const value = (metadata as Readonly<Record<string, unknown>>)[key];
  return typeof value === 'string' ? value : '';
}
