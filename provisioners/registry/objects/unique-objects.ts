import type { KubernetesObject } from '../../../core/sdk.ts';
import { groupOf } from './api-group.ts';
import { objectName, objectNamespace } from './object-name.ts';

/**
 * Keeps each object once: of several with one group, kind, namespace and name the last, at its own
 * place. Versions do not count, because the API server has one object for all of them.
 */
export function uniqueObjects(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  const last = new Map(objects.map((object, index) => [identityOf(object, index), index]));
  return objects.filter((object, index) => last.get(identityOf(object, index)) === index);
}

function identityOf(object: KubernetesObject, index: number): string {
  const name = objectName(object);
  // Without a name nothing is known to be the same; the API server will refuse each of them.
  if (name === '') return `#${index}`;
  return JSON.stringify([groupOf(object.apiVersion), object.kind, objectNamespace(object), name]);
}
