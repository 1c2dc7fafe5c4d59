import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { isConflict, isNotFound, type KubeClient } from '../platform/kube/index.ts';

/** Deletes exactly this Bundle; one that is gone, or a namesake, is left as it is. */
export async function deleteBundle(
  client: KubeClient,
  bundle: Bundle,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', uid = '' } = bundle.metadata;
  try {
    await client.delete(bundleResource, { name }, { uid, propagationPolicy: 'Background', signal });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
