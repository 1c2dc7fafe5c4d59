import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Installation } from '../installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { withServedApiVersion } from '../served-api-version.ts';
import { scopeOf } from '../supported-kinds.ts';

/** What else the bundle ships; namespaced kinds move to the install namespace (spec section 9.8). */
export function otherObjects(
  { others, crds }: RegistryBundle,
  { installNamespace }: Installation,
): readonly KubernetesObject[] {
  return others
    .map(withServedApiVersion)
    .map((object) =>
      scopeOf(object, crds) === 'Namespaced' ? moved(object, installNamespace) : object,
    );
}

// Metadata that is no map spreads to nothing: the API server then says that the name is missing.
function moved(object: KubernetesObject, namespace: string): KubernetesObject {
  const metadata: unknown = object.metadata;
  const kept = typeof metadata === 'object' && !Array.isArray(metadata) ? metadata : {};
  return { ...object, metadata: { ...kept, namespace } };
}
