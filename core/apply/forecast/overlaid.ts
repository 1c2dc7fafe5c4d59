import type { KubernetesObject } from '../../../api/meta.ts';
import { isMap } from '../json-fields.ts';

/** A guess at what applying makes of a live object, where the API server cannot be asked. */
export function overlaid(live: KubernetesObject, desired: KubernetesObject): KubernetesObject {
  return merged(live, desired) as KubernetesObject;
}

function merged(live: unknown, desired: unknown): unknown {
  if (!isMap(live) || !isMap(desired)) return desired;
  const fields = Object.entries(desired).map(([key, value]) => [
    key,
    Object.hasOwn(live, key) ? merged(live[key], value) : value,
  ]);
  return { ...live, ...Object.fromEntries(fields) };
}
