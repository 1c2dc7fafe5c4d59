import type { ClusterFacts } from '../../core/sdk.ts';
import type { RegistryConfig } from './config/registry-config.ts';
import type { Installation } from './installation.ts';
import type { RegistryBundle } from './registry-bundle.ts';

/** How a bundle is installed by a config, or without one where that is absent. */
export function planInstallation(
  bundle: RegistryBundle,
  config: RegistryConfig = { overrides: {} },
  cluster?: ClusterFacts,
): Installation {
  const { installNamespace, watchNamespaces = [''], overrides } = config;
  return {
    installNamespace: installNamespace ?? suggestedNamespace(bundle),
    createsNamespace: installNamespace === undefined,
    targetNamespaces: watchNamespaces,
    overrides,
    ...(cluster === undefined ? {} : { cluster }),
  };
}

const suggestion = 'operatorframework.io/suggested-namespace';

function suggestedNamespace({ csv, packageName }: RegistryBundle): string {
  const suggested = Object.hasOwn(csv.annotations, suggestion) ? csv.annotations[suggestion] : '';
  return suggested === undefined || suggested === '' ? `${packageName}-system` : suggested;
}
