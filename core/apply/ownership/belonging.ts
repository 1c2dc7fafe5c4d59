import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { isMarked, trackedUID } from '../objects/tracking-id.ts';
import { controllerOf, isDeployment, labelledOwner } from './ownership.ts';

/**
 * Whether core made this very object for this very deployment: only then it may delete it. A copy that
 * bears our labels, and what was made for an earlier deployment of that name, are strangers. What
 * RukPak made has the deployment's ownerReference, by which the garbage collector would delete it.
 */
export function belongsTo(object: KubernetesObject, { metadata }: BundleDeployment): boolean {
  const { name = '', uid = '' } = metadata;
  if (labelledOwner(object) !== name) return false;
  const controller = controllerOf(object);
  if (controller !== undefined && !isDeployment(controller, name)) return false;
  return (isMarked(object) ? trackedUID(object) : controller?.uid) === uid;
}
