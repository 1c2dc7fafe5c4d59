import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { Permission } from '../../../core/apply/index.ts';

/**
 * Where spec.prune or spec.deletionPolicy makes it depend on custom resources what becomes of a CRD,
 * they are looked for, in all namespaces: also where the spec leaves it to core's own defaults, which
 * nobody can read. `definitions` are names of CRDs.
 */
export function customResourceLists(
  { spec }: BundleDeployment,
  definitions: readonly string[],
): readonly Permission[] {
  const { confirmData = true } = spec.prune ?? {};
  const { deletionPolicy = 'KeepCRDs' } = spec;
  const isAsked = confirmData || deletionPolicy === 'KeepCRDs';
  if (!isAsked) return [];
  return definitions.map((name) => {
    const dot = name.indexOf('.');
    return { verb: 'list', group: name.slice(dot + 1), resource: name.slice(0, dot) };
  });
}
