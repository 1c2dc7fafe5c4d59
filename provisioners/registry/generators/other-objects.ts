import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Installation } from '../installation/installation.ts';
import { objectName } from '../objects/object-name.ts';
import { withOptionalKind } from '../objects/optional-kind.ts';
import { markSamples } from '../objects/samples.ts';
import { withServedApiVersion } from '../objects/served-api-version.ts';
import { scopeOf } from '../objects/supported-kinds.ts';
import { withOwnAccounts } from '../permissions/bound-accounts.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { isMadeSecret } from '../webhooks/made-secret.ts';
import { serviceAccounts } from './service-accounts.ts';

/** What else the bundle ships; namespaced kinds move to the install namespace. */
export function otherObjects(
  bundle: RegistryBundle,
  installation: Installation,
): readonly KubernetesObject[] {
  const { others, crds } = bundle;
  const { installNamespace, configured } = installation;
  const accounts = { names: ownAccounts(bundle, installation), namespace: installNamespace };
  return markSamples(others, bundle)
    .filter((object) => !isMadeSecret(object, bundle.csv))
    .map(withServedApiVersion)
    .map((object) => withOptionalKind(object, crds))
    .map((object) => (configured ? withOwnAccounts(object, accounts) : object))
    .map((object) =>
      scopeOf(object, crds) === 'Namespaced' ? moved(object, installNamespace) : object,
    );
}

function ownAccounts(bundle: RegistryBundle, installation: Installation): ReadonlySet<string> {
  const shipped = bundle.others.filter(({ kind }) => kind === 'ServiceAccount');
  return new Set([...serviceAccounts(bundle, installation), ...shipped].map(objectName));
}

// Metadata that is no map spreads to nothing: the API server then says that the name is missing.
function moved(object: KubernetesObject, namespace: string): KubernetesObject {
  const metadata: unknown = object.metadata;
  const kept = typeof metadata === 'object' && !Array.isArray(metadata) ? metadata : {};
  return { ...object, metadata: { ...kept, namespace } };
}
