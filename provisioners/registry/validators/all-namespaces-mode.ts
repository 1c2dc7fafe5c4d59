import type { RegistryBundle } from '../registry-bundle.ts';

/** Operators are installed for all namespaces, so they must support that (spec section 9.3). */
export function allNamespacesMode({ csv }: RegistryBundle): string | undefined {
  const supported = csv.installModes.some(
    (mode) => mode.type === 'AllNamespaces' && mode.supported,
  );
  return supported ? undefined : 'AllNamespace install mode must be enabled';
}
