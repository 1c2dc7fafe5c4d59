import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { CacheChange } from '../platform/runtime/index.ts';

/** The deployments that gained or lost a dependent by a change: theirs is to keep, or to go on with. */
export function changedDependencies({
  type,
  object,
  previous,
}: CacheChange<BundleDeployment>): readonly string[] {
  const before = new Set(previous?.spec.dependsOn?.map(({ name }) => name));
  const after = new Set(type === 'deleted' ? [] : object.spec.dependsOn?.map(({ name }) => name));
  return [...before.symmetricDifference(after)];
}
