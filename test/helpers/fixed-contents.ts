import { isDeepStrictEqual } from 'node:util';
import { serialize } from 'node:v8';
import type {
  AbsentCatalog,
  CatalogContents,
  CatalogIdentity,
  ContentChange,
  FoundPackage,
  ProvidingPackages,
  ServingCatalog,
} from '../../operators/catalogs/index.ts';
import type {
  Bundle,
  Channel,
  Deprecation,
  PackageContent,
  Property,
} from '../../resolver/candidates/index.ts';
import { type GroupVersionKind, providedApis } from '../../resolver/constraints/index.ts';
import { parseVersion } from '../../resolver/versions/index.ts';

interface PackageFields {
  readonly name?: string;
  /** Each replaces the one before, in channel `stable`. */
  readonly versions?: readonly string[];
  readonly channels?: readonly Channel[];
  readonly deprecations?: readonly Deprecation[];
  /** Of every bundle, besides its version. */
  readonly properties?: readonly Property[];
  /** The image of a version (default: `example.com/<name>:<version>`). */
  readonly imageOf?: (version: string) => string;
}

type Package = Omit<PackageContent, 'catalog'>;

/** Package `painter`, with bundles `painter.v<version>`. */
export function aPackage({
  name = 'painter',
  versions = ['1.0.0'],
  deprecations = [],
  properties = [],
  imageOf = (version) => `example.com/${name}:${version}`,
  ...fields
}: PackageFields = {}): Package {
  const bundles = versions.map((version): Bundle => {
    const ofVersion = { type: 'olm.package', value: { packageName: name, version } };
    return {
      name: `${name}.v${version}`,
      image: imageOf(version),
      version: parseVersion(version),
      properties: [ofVersion, ...properties],
    };
  });
  const channels = fields.channels ?? [
    aChannel(
      'stable',
      bundles.map((bundle) => bundle.name),
    ),
  ];
  return { name, defaultChannel: 'stable', channels, bundles, deprecations };
}

/** Each bundle replaces the one before. */
export function aChannel(name: string, bundles: readonly string[]): Channel {
  const entries = bundles.map((bundle, index) => {
    const replaces = bundles[index - 1];
    return { name: bundle, skips: [], ...(replaces === undefined ? {} : { replaces }) };
  });
  return { name, entries };
}

/** Catalogs in memory, whose content the test sets. */
export class FixedContents implements CatalogContents {
  /** Names of the packages that were read. */
  readonly reads: string[] = [];
  readonly #serving = new Map<
    string,
    { catalog: ServingCatalog; packages: Map<string, Package> }
  >();
  readonly #absent = new Map<string, AbsentCatalog>();
  readonly #broken = new Map<string, string>();
  readonly #listeners = new Set<(change: ContentChange) => void>();

  /** Replaces the content of a catalog; only packages that differ count as changed. */
  serve(identity: Partial<CatalogIdentity>, ...packages: readonly Package[]): void {
    const catalog = identityOf(identity);
    const before = this.#serving.get(catalog.name)?.packages ?? new Map<string, Package>();
    const now = new Map(packages.map((each) => [each.name, each]));
    const serving = { ...catalog, resolvedRef: 'r@sha256:0', problem: undefined };
    this.#serving.set(catalog.name, { catalog: serving, packages: now });
    this.#absent.delete(catalog.name);
    const names = [...new Set([...before.keys(), ...now.keys()])];
    const changed = names.filter((name) => before.get(name) !== now.get(name));
    this.#tell({ catalog, packages: new Set(changed) });
  }

  /** The catalog has no content, for one of the reasons. */
  lose(identity: Partial<CatalogIdentity>, state: AbsentCatalog['state'], problem = ''): void {
    const catalog = identityOf(identity);
    const packages = this.#serving.get(catalog.name)?.packages ?? new Map();
    this.#serving.delete(catalog.name);
    this.#absent.set(catalog.name, { ...catalog, state, problem });
    this.#tell({ catalog, packages: new Set(packages.keys()) });
  }

  /** The object is deleted. */
  remove(identity: Partial<CatalogIdentity>): void {
    const catalog = identityOf(identity);
    const packages = this.#serving.get(catalog.name)?.packages ?? new Map();
    this.#serving.delete(catalog.name);
    this.#absent.delete(catalog.name);
    this.#tell({ catalog, packages: new Set(packages.keys()) });
  }

  /** The blobs of one package cannot be read. */
  breakPackage(name: string, problem: string): void {
    this.#broken.set(name, problem);
    for (const { catalog } of this.#serving.values()) {
      this.#tell({ catalog, packages: new Set([name]) });
    }
  }

  serving(): readonly ServingCatalog[] {
    return [...this.#serving.values()].map(({ catalog }) => catalog);
  }

  absent(): readonly AbsentCatalog[] {
    return [...this.#absent.values()];
  }

  async findPackage(
    name: string,
    isWanted: (catalog: ServingCatalog) => boolean,
  ): Promise<readonly FoundPackage[]> {
    this.reads.push(name);
    const problem = this.#broken.get(name);
    return [...this.#serving.values()].flatMap(({ catalog, packages }): readonly FoundPackage[] => {
      const found = packages.get(name);
      if (found === undefined || !isWanted(catalog)) return [];
      if (problem !== undefined) return [{ catalog, problem }];
      const reference = { name: catalog.name, namespace: '', priority: catalog.priority };
      return [{ catalog, content: { ...found, catalog: reference } }];
    });
  }

  packageBytes(name: string, isWanted: (catalog: ServingCatalog) => boolean): number {
    const wanted = [...this.#serving.values()].filter(({ catalog }) => isWanted(catalog));
    const sizes = wanted.map(({ packages }) => serialize(packages.get(name)).byteLength);
    return sizes.reduce((sum, bytes) => sum + bytes, 0);
  }

  packagesProviding(api: GroupVersionKind): readonly ProvidingPackages[] {
    return [...this.#serving.values()].flatMap(({ catalog, packages }) => {
      const names = [...packages.values()]
        .filter(({ bundles }) =>
          bundles.some(({ properties }) =>
            providedApis(properties).some((each) => isDeepStrictEqual(each, api)),
          ),
        )
        .map(({ name }) => name);
      return names.length === 0 ? [] : [{ catalog, packages: names.toSorted() }];
    });
  }

  onChange(listener: (change: ContentChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #tell(change: ContentChange): void {
    for (const listener of this.#listeners) listener(change);
  }
}

function identityOf(fields: Partial<CatalogIdentity>): CatalogIdentity {
  const { kind = 'Catalog', name = 'colours', labels = {}, priority = 0 } = fields;
  const ownLabel = { 'olm.operatorframework.io/metadata.name': name };
  return { kind, name, labels: { ...ownLabel, ...labels }, priority };
}
