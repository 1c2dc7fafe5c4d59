import type { ClusterServiceVersion } from '../csv/cluster-service-version.ts';
import type { Installation } from './installation.ts';

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
