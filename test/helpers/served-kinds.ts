import type { KubernetesObject } from '../../api/meta.ts';
import { eventually } from './eventually.ts';
import type { Kubectl } from './kubectl.ts';

/** Of a CRD. */
export interface DefinitionSpec {
  readonly group: string;
  readonly names: { readonly kind: string; readonly plural: string };
  readonly versions: readonly {
    readonly name: string;
    readonly served: boolean;
    readonly storage: boolean;
  }[];
}

/**
 * Waits until custom resources of CRDs can be listed. The API server makes ready what holds them
 * when they are first asked for: where a CRD is deleted before that, it was seen to take minutes
 * over emptying it. Without a limit: what has one is answered before all is ready.
 */
export async function customResourcesAreServed(
  kubectl: Kubectl,
  definitions: readonly KubernetesObject[],
): Promise<void> {
  for (const { spec } of definitions) {
    const { group, names, versions } = spec as DefinitionSpec;
    const served = versions.filter((each) => each.served);
    // What is listed to empty it is the version in which they are stored.
    const version = served.find(({ storage }) => storage) ?? served[0];
    const path = `/apis/${group}/${version?.name}/${names.plural}`;
    await eventually(async () => await kubectl.must(['get', '--raw', path]));
  }
}
