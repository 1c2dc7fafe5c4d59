/**
 * Who may import whom, as data: a place may import what its row names, and itself. A row's key and
 * entries are path prefixes from the project's root; the longest matching key is the place.
 */
export const importRules: Readonly<Record<string, readonly string[]>> = {
  'api/': [],
  'core/contracts/': ['api/', 'core/errors.ts'],
  'core/errors.ts': ['api/', 'core/contracts/'],
  'core/clock.ts': [],
  'core/short-list.ts': [],
  // X.509 alone, for whoever issues certificates: docs/adr/0028.
  'core/certificates/': [],
  ...layer(
    ['core/kube/', 'core/net/', 'core/manifests/', 'core/content/', 'core/observe/'],
    ['api/', 'core/contracts/', 'core/errors.ts', 'core/clock.ts', 'core/short-list.ts'],
  ),
  ...layer(
    ['core/runtime/', 'core/sources/', 'core/remote-provisioner/', 'core/store/', 'core/apply/'],
    [
      'api/',
      'core/contracts/',
      'core/errors.ts',
      'core/clock.ts',
      'core/short-list.ts',
      'core/kube/',
      'core/net/',
      'core/manifests/',
      'core/content/',
      'core/observe/',
    ],
  ),
  ...layer(
    ['core/bundle/', 'core/bundle-deployment/', 'core/manager/', 'core/run-manager.ts'],
    ['api/', 'core/'],
  ),
  'core/sdk.ts': ['api/', 'core/contracts/', 'core/errors.ts', 'core/manifests/', 'core/content/'],
  ...layer(
    ['provisioners/plain/', 'provisioners/registry/', 'provisioners/helm/'],
    ['api/', 'core/sdk.ts'],
  ),
  'provisioners/index.ts': ['api/', 'core/sdk.ts', 'provisioners/'],
  'testing/': ['api/', 'core/sdk.ts'],
  'webhooks/': ['api/', 'core/certificates/'],
  'cmd/': ['api/', 'core/', 'provisioners/', 'webhooks/', 'deploy/'],
  'deploy/': ['api/'],
  // A program of the checkout that no package has: it speaks to registries as the product does.
  'deploy/release/': ['api/', 'core/', 'deploy/'],
  // As somebody else wrote it: with the package, and nothing of the checkout.
  'examples/kustomize-class/': [],
};

function layer(
  places: readonly string[],
  allowed: readonly string[],
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(places.map((place) => [place, allowed]));
}

/** The place of a file: the longest key of the rules that its path begins with. */
export function placeOf(path: string): string | undefined {
  return Object.keys(importRules)
    .filter((key) => path.startsWith(key))
    .sort((a, b) => b.length - a.length)[0];
}

export function mayImport(from: string, to: string): boolean {
  const place = placeOf(from);
  if (place === undefined) return false;
  if (to.startsWith(place)) return true;
  return (importRules[place] ?? []).some((allowed) => to.startsWith(allowed));
}
