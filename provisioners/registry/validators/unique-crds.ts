import { type KubernetesObject, stringifyJson } from '../../../core/sdk.ts';
import { objectName } from '../objects/object-name.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** Of two definitions of one kind only one would be there, and which is up to nobody. */
export function uniqueCrds({ crds }: RegistryBundle): string | undefined {
  const seen = new Map<string, KubernetesObject>();
  for (const crd of crds) {
    const name = objectName(crd);
    const other = seen.get(name);
    // The same in two files is no question.
    if (other !== undefined && stringifyJson(other) !== stringifyJson(crd)) {
      return `bundle contains duplicate custom resource definition '${name}'; keep one of them in manifests/`;
    }
    seen.set(name, crd);
  }
  return undefined;
}
