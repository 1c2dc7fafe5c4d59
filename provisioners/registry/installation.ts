import type { ClusterFacts } from '../../core/sdk.ts';
import type { ClusterServiceVersion } from './bundle/cluster-service-version.ts';
import type { RegistryBundle } from './bundle/registry-bundle.ts';
import type { RegistryConfig } from './config.ts';
import type { DeploymentOverrides } from './deployment-overrides.ts';

/**
 * How a deployment installs a bundle: the input of validators and generators besides the bundle.
 */
export interface Installation {
  /** Namespace of the bundle's namespaced objects. */
  readonly installNamespace: string;
  /** The install namespace is part of the bundle; a given one belongs to the user. */
  readonly createsNamespace: boolean;
  /** The namespaces that the operator watches, sorted; a single empty name means all of them. */
  readonly targetNamespaces: readonly string[];
  /** The deployment has a spec.config; without one the bundle is installed as by v0.16. */
  readonly configured: boolean;
  /** Changes of the operator's pods by spec.config. */
  readonly overrides: DeploymentOverrides;
  /** Changed CRDs go unchecked against existing custom resources. */
  readonly skipsCrdUpgradeSafety?: boolean;
  /** Undefined when no cluster is known, such as while a Bundle is unpacked. */
  readonly cluster?: ClusterFacts;
  /** The deployment has the same content installed: do not wait for its requirements. */
  readonly installed?: boolean;
}

/** The installation of a bundle by a config, or by v0.16's rules without one. */
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
    ...(config?.skipsCrdUpgradeSafety === true ? { skipsCrdUpgradeSafety: true } : {}),
    ...(cluster === undefined ? {} : { cluster }),
  };
}

/**
 * An installation in a supported install mode, to find the problems of a bundle that do not depend
 * on a deployment's namespaces; for all namespaces when no mode is supported.
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

/** The supported install modes of a CSV, sorted; OLM's names or others. */
export function supportedModes({ installModes }: ClusterServiceVersion): ReadonlySet<string> {
  return new Set(
    installModes
      .filter((mode) => mode.supported)
      .map((mode) => mode.type)
      .sort(),
  );
}

/** Whether the operator watches the whole cluster, and gets its permissions at cluster scope. */
export function watchesAllNamespaces({
  targetNamespaces,
}: Pick<Installation, 'targetNamespaces'>): boolean {
  return targetNamespaces.includes('');
}

/** The install modes that an installation needs by OLM's rules: each must be supported. */
export function neededModes({
  installNamespace,
  targetNamespaces,
}: Installation): readonly string[] {
  const own = targetNamespaces.includes(installNamespace) ? ['OwnNamespace'] : [];
  if (targetNamespaces.length > 1) return ['MultiNamespace', ...own];
  if (watchesAllNamespaces({ targetNamespaces })) return ['AllNamespaces'];
  return own.length > 0 ? own : ['SingleNamespace'];
}
