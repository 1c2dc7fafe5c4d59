import type { KubernetesObject } from '../../../core/sdk.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** The bundle's CRDs, as written. */
export function customResourceDefinitions({ crds }: RegistryBundle): readonly KubernetesObject[] {
  return crds;
}
