import type { ClusterFacts } from '../../core/sdk.ts';
import type { ClusterServiceVersion } from './cluster-service-version.ts';
import type { RegistryConfig } from './config.ts';
import type { DeploymentOverrides } from './deployment-overrides.ts';
import type { RegistryBundle } from './registry-bundle.ts';

/** How one deployment has a bundle installed: what validators and generators see beside the bundle. */
export interface Installation {
  /** Where everything namespaced of the bundle goes. */
  readonly installNamespace: string;
  /** The install namespace comes and goes with the bundle; a given one is the user's. */
  readonly createsNamespace: boolean;
  /** The namespaces that the operator watches, sorted; an empty name alone is all of them. */
  readonly targetNamespaces: readonly string[];
  /** The deployment has a spec.config; without one the bundle is installed as by v0.16. */
  readonly configured: boolean;
  /** What spec.config changes in the operator's pods. */
  readonly overrides: DeploymentOverrides;
  /** Absent where no cluster is known, as when a Bundle is unpacked. */
  readonly cluster?: ClusterFacts;
  /** The deployment has the same content installed: what that needs is awaited no more. */
  readonly installed?: boolean;
}

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

/** The install modes that a CSV says its operator supports, sorted; OLM's names or others. */
export function supportedModes({ installModes }: ClusterServiceVersion): ReadonlySet<string> {
  return new Set(
    installModes
      .filter((mode) => mode.supported)
      .map((mode) => mode.type)
      .sort(),
  );
}

/** Whether the operator watches the whole cluster: its permissions are then the cluster's. */
export function watchesAllNamespaces({
  targetNamespaces,
}: Pick<Installation, 'targetNamespaces'>): boolean {
  return targetNamespaces.includes('');
}

/** The modes that an installation takes by OLM's rules: each of them has to be supported. */
export function neededModes({
  installNamespace,
  targetNamespaces,
}: Installation): readonly string[] {
  const own = targetNamespaces.includes(installNamespace) ? ['OwnNamespace'] : [];
  if (targetNamespaces.length > 1) return ['MultiNamespace', ...own];
  if (watchesAllNamespaces({ targetNamespaces })) return ['AllNamespaces'];
  return own.length > 0 ? own : ['SingleNamespace'];
}
