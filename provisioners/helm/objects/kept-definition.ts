import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { KubernetesObject } from '../../../core/sdk.ts';
import type { CrdPolicy } from '../config/helm-config.ts';
import { annotated } from './annotated.ts';

/**
 * Of a chart's crds/: as with Helm it outlives the deployment, and a later chart that lacks it.
 * Unlike with Helm it is upgraded, which the crdvalidator looks at unless it is told not to.
 */
export function keptDefinition(object: KubernetesObject, policy: CrdPolicy): KubernetesObject {
  const unchecked = policy === 'Replace' ? { [annotation.safeCrdUpgrade]: 'false' } : {};
  return annotated(object, { [annotation.keep]: 'true', ...unchecked });
}
