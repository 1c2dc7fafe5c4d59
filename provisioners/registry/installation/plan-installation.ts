import type { ClusterFacts } from '../../../core/sdk.ts';
import type { RegistryConfig } from '../config/registry-config.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { supportedModes } from './install-modes.ts';
import type { Installation } from './installation.ts';

/** How a bundle is installed by a config, or by v0.16's rules where that is absent. */
export function planInstallation(
  bundle: RegistryBundle,
  config?: RegistryConfig,
  cluster?: ClusterFacts,
): Installation {
  const { installNamespace, watchNamespaces = [''], overrides = {} } = config ?? {};
  return {
    installNamespace: installNamespace ?? suggestedNamespace(bundle),
    createsNamespace: installNamespace === undefined,
    targetNamespaces: [...new Set(watchNamespaces)].sort(),
    configured: config !== undefined,
    overrides,
    ...(cluster === undefined ? {} : { cluster }),
  };
}

/**
 * One that the bundle's install modes allow, to see what is wrong with a bundle whatever namespaces
 * a deployment will choose; for all namespaces where they allow none.
 */
export function anyInstallation(bundle: RegistryBundle): Installation {
  const modes = supportedModes(bundle.csv);
  const own = suggestedNamespace(bundle);
  const watchNamespaces = (): readonly string[] => {
    if (modes.has('AllNamespaces')) return [''];
    if (modes.has('OwnNamespace')) return [own];
    if (modes.has('SingleNamespace')) return [`${own}-watched`];
    return modes.has('MultiNamespace') ? [`${own}-watched`, `${own}-watched-2`] : [''];
  };
  return planInstallation(bundle, { watchNamespaces: watchNamespaces(), overrides: {} });
}

const suggestion = 'operatorframework.io/suggested-namespace';

function suggestedNamespace({ csv, packageName }: RegistryBundle): string {
  const suggested = Object.hasOwn(csv.annotations, suggestion) ? csv.annotations[suggestion] : '';
  return suggested === undefined || suggested === '' ? `${packageName}-system` : suggested;
}
