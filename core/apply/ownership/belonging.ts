import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { mapOf } from '../fields/json-fields.ts';
import { controllerOf, isDeployment } from './ownership.ts';

/**
 * Whether an object that is labelled as a deployment's goes with it: the deployment controls it, or
 * removes it itself. Other controllers copy labels to objects of their own; kept objects stay.
 */
export function belongsTo(object: KubernetesObject, deployment: string): boolean {
  const controller = controllerOf(object);
  if (controller !== undefined) return isDeployment(controller, deployment);
  return Object.hasOwn(mapOf(object.metadata.annotations), annotation.ownerUID);
}
