import { z } from 'zod';
import type { KubernetesObject } from '../api/meta.ts';

const shippedNamespace = 'rukpak-system';

const jsonSchema = z.json();
type Json = z.infer<typeof jsonSchema>;

/**
 * The object with another system namespace in place of rukpak-system: its own namespace or name,
 * subjects, services and selectors.
 */
export function moveToNamespace(object: KubernetesObject, namespace: string): KubernetesObject {
  if (namespace === shippedNamespace) return object;
  return replace(jsonSchema.parse(object), namespace) as unknown as KubernetesObject;
}

function replace(value: Json, namespace: string): Json {
  if (value === shippedNamespace) return namespace;
  if (Array.isArray(value)) return value.map((item) => replace(item, namespace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [key, replace(field, namespace)]),
  );
}
