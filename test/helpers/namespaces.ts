import type {
  CatalogReference,
  PackageContent,
  Property,
} from '../../resolver/candidates/index.ts';
import type {
  CatalogContent,
  InstalledBundle,
  NamespaceRequest,
  Subscription,
} from '../../resolver/olm0/index.ts';
import { parseVersion } from '../../resolver/versions/index.ts';

/** A bundle in a channel, for tests: `blue.v1` is version 1.0.0 of package blue in channel stable. */
export interface ABundle {
  readonly name: string;
  readonly packageName: string;
  readonly version: string;
  readonly channel: string;
  readonly replaces?: string;
  readonly skips: readonly string[];
  readonly skipRange?: string;
  readonly properties: readonly Property[];
}

export function aBundle(
  name: string,
  properties: readonly Property[] = [],
  rest: Partial<ABundle> = {},
): ABundle {
  const [packageName = '', tag = 'v1'] = name.split('.');
  const version = `${tag.slice(1)}.0.0`;
  return { name, packageName, version, channel: 'stable', skips: [], properties, ...rest };
}

/** The API of a kind: Blue is of group blues.example.com. */
export function api(kind: string, version = 'v1') {
  return { group: `${kind.toLowerCase()}s.example.com`, version, kind };
}

export function provides(kind: string, version = 'v1'): Property {
  return { type: 'olm.gvk', value: api(kind, version) };
}

export function requiresApi(kind: string, version = 'v1'): Property {
  return { type: 'olm.gvk.required', value: api(kind, version) };
}

export function requiresPackage(packageName: string, versionRange: string): Property {
  return { type: 'olm.package.required', value: { packageName, versionRange } };
}

export function constraint(value: unknown): Property {
  return { type: 'olm.constraint', value };
}

export function aCatalog(
  reference: string | CatalogReference,
  bundles: readonly ABundle[],
  defaultChannels: Readonly<Record<string, string>> = {},
): CatalogContent & { readonly packages: readonly PackageContent[] } {
  const catalog =
    typeof reference === 'string' ? { name: reference, namespace: 'olm', priority: 0 } : reference;
  const packages = [...Map.groupBy(bundles, ({ packageName }) => packageName)].map(
    ([name, ofPackage]): PackageContent => ({
      catalog,
      name,
      defaultChannel: defaultChannels[name] ?? ofPackage[0]?.channel ?? '',
      channels: [...Map.groupBy(ofPackage, ({ channel }) => channel)].map(([channel, entries]) => ({
        name: channel,
        entries,
      })),
      bundles: [...new Map(ofPackage.map((each) => [each.name, each])).values()].map((each) => ({
        name: each.name,
        image: `registry.example/${each.name}`,
        version: parseVersion(each.version),
        properties: [packageProperty(each), ...each.properties],
      })),
      deprecations: [],
    }),
  );
  return { catalog, packages };
}

export function packageProperty({
  packageName,
  version,
}: Pick<ABundle, 'packageName' | 'version'>): Property {
  return { type: 'olm.package', value: { packageName, version } };
}

export function aSubscription(packageName: string, rest: Partial<Subscription> = {}): Subscription {
  return {
    name: packageName,
    packageName,
    channel: 'stable',
    catalog: { name: 'c1', namespace: 'olm' },
    startingCSV: '',
    installedCSV: '',
    currentCSV: '',
    approval: 'Automatic',
    ...rest,
  };
}

const noApis = { customResourceDefinitions: [], apiServices: [] };

export function anInstalledBundle(
  { name, packageName, version, properties }: ABundle,
  rest: Partial<InstalledBundle> = {},
): InstalledBundle {
  return {
    name,
    version: parseVersion(version),
    replaces: '',
    phase: 'Succeeded',
    properties: [packageProperty({ packageName, version }), ...properties],
    owned: noApis,
    required: noApis,
    ...rest,
  };
}

export function aNamespace(rest: Partial<NamespaceRequest>): NamespaceRequest {
  return {
    namespace: 'team',
    globalNamespace: 'olm',
    operatorGroups: 1,
    subscriptions: [],
    installed: [],
    catalogs: [],
    ...rest,
  };
}
