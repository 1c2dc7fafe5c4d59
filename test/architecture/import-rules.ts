/**
 * Who may import whom, as data: a place may import what its row names, and itself. A row's key and
 * entries are path prefixes from the project's root; the longest matching key is the place.
 */
const foundations = ['api/', 'core/contracts/', 'core/errors.ts', 'core/short-list.ts'];

export const importRules: Readonly<Record<string, readonly string[]>> = {
  'api/': [],
  'core/contracts/': ['api/', 'core/errors.ts'],
  'core/errors.ts': ['api/', 'core/contracts/'],
  'core/short-list.ts': [],
  ...layer(['core/platform/', 'core/manifests/', 'core/content/'], foundations),
  'core/controller.ts': [...foundations, 'core/platform/'],
  'core/registry/': [...foundations, 'core/platform/', 'core/content/'],
  ...layer(
    ['core/sources/', 'core/classes/', 'core/store/', 'core/apply/'],
    [...foundations, 'core/platform/', 'core/registry/', 'core/manifests/', 'core/content/'],
  ),
  ...layer(
    ['core/bundle/', 'core/bundle-deployment/', 'core/manager/', 'core/run-manager.ts'],
    ['api/', 'core/'],
  ),
  'core/define-source.ts': foundations,
  'core/sdk.ts': [...foundations, 'core/define-source.ts', 'core/manifests/', 'core/content/'],
  ...layer(
    ['provisioners/plain/', 'provisioners/registry/', 'provisioners/helm/'],
    ['api/', 'core/sdk.ts'],
  ),
  ...layer(
    ['provisioners/index.ts', 'provisioners/class-of-content.ts'],
    ['api/', 'core/sdk.ts', 'provisioners/'],
  ),
  'testing/': ['api/', 'core/sdk.ts'],
  'webhooks/': [...foundations, 'core/platform/'],
  // What the classes refuse is part of what is wrong with a bundle, and so is what the API server does.
  'catalog/bundle-checks/': [
    ...foundations,
    'core/sdk.ts',
    'core/manifests/',
    'core/content/',
    'core/apply/content-rules.ts',
    'provisioners/',
    'resolver/versions/',
    'resolver/constraints/',
  ],
  // Pure functions on plain values: no kind, no cluster, no disk.
  'resolver/': ['api/go-quote.ts', 'api/json-fields.ts', 'resolver/'],
  // Without a cluster, and without the classes: what a catalog is.
  'catalog/blobs/': [...foundations, 'core/sdk.ts', 'core/manifests/'],
  'catalog/': [
    ...foundations,
    'core/sdk.ts',
    'core/platform/',
    'core/registry/',
    'core/manifests/',
    'core/content/',
    'resolver/versions/',
    'resolver/candidates/',
    'catalog/',
  ],
  'operators/': [...foundations, 'core/controller.ts', 'core/registry/', 'catalog/', 'resolver/'],
  'cmd/': [
    'api/',
    'core/',
    'resolver/',
    'catalog/',
    'operators/',
    'provisioners/',
    'webhooks/',
    'deploy/',
  ],
  'deploy/': ['api/', 'core/platform/runtime/processes.ts'],
  // It brings images to its registry as users do.
  'deploy/local/demo/': ['api/', 'core/', 'catalog/', 'deploy/'],
  // A program of the checkout that no package has: it speaks to registries as the product does.
  'deploy/release/': ['api/', 'core/', 'deploy/'],
  // As somebody else wrote it: with the package, and nothing of the checkout.
  'examples/kustomize-class/': [],
  'examples/s3-source/': [],
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

/** Folders with one door, their index.ts: nothing else of them is imported from outside. */
const rooms = [
  ...['kube', 'net', 'observe', 'certificates', 'runtime'].map((name) => `core/platform/${name}`),
  ...['content', 'manifests', 'registry', 'sources', 'store', 'apply', 'classes'].map(inCore),
  ...['bundle', 'bundle-deployment', 'manager'].map(inCore),
  // Apart from its source, since few installations have policies and its libraries take long to load.
  'core/sources/image/signatures',
  'webhooks',
  'api/object-schema',
  'catalog/bundle-checks',
  ...['blobs', 'load', 'index', 'validate', 'graph', 'compare'].map(inCatalog),
  ...['render', 'templates', 'images', 'serve', 'mirror'].map(inCatalog),
  ...['versions', 'constraints', 'candidates', 'solver', 'explain', 'olm0', 'olm1'].map(inResolver),
  ...['plain', 'registry', 'helm'].map((name) => `provisioners/${name}`),
  ...['catalogs', 'extensions', 'client'].map((name) => `operators/${name}`),
];

function inCore(name: string): string {
  return `core/${name}`;
}

function inResolver(name: string): string {
  return `resolver/${name}`;
}

function inCatalog(name: string): string {
  return `catalog/${name}`;
}

/** Second doors of rooms, for who needs little of a room that takes long to load. */
export const sideDoors: ReadonlySet<string> = new Set([
  'core/apply/content-rules.ts',
  'core/platform/runtime/processes.ts',
  'core/platform/runtime/queue/claims.ts',
  'core/platform/runtime/queue/semaphore.ts',
  'core/registry/reference.ts',
]);

/** The room that a file lies in. */
export function roomOf(path: string): string | undefined {
  return rooms
    .filter((room) => path.startsWith(`${room}/`))
    .toSorted((a, b) => b.length - a.length)[0];
}
