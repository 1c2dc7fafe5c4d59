import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import type { IndexedCache } from '../../../core/controller.ts';
import type { PresentBundle } from '../../../resolver/olm1/index.ts';
import { readVersion } from '../../../resolver/versions/index.ts';
import type { BundleRecord } from '../deployment/bundle-record.ts';
import { installationOf } from '../deployment/installation.ts';
import type { Extension, ExtensionKind } from '../extension.ts';

export interface NeighbourKind {
  readonly kind: ExtensionKind;
  readonly objects: Pick<IndexedCache, 'get' | 'list'>;
}

/** How often bundles have changed: a value that stays as it was at a moment. */
export interface Revisions {
  readonly any: number;
  /** The value of `any` at the last change of a package; absent without one. */
  readonly ofPackages: ReadonlyMap<string, number>;
}

/** The bundles that Operators and ClusterExtensions have and ask for, as their records know them. */
export class Neighbours {
  readonly #kinds: readonly NeighbourKind[];
  readonly #deployments: Pick<IndexedCache<BundleDeployment>, 'get'>;
  /** The records of each name that has any. */
  readonly #known = new Map<string, KnownRecords>();
  #revisions: Revisions = { any: 0, ofPackages: new Map() };

  constructor(
    kinds: readonly NeighbourKind[],
    deployments: Pick<IndexedCache<BundleDeployment>, 'get'>,
  ) {
    this.#kinds = kinds;
    this.#deployments = deployments;
  }

  get revisions(): Revisions {
    return this.#revisions;
  }

  /**
   * Call this when a BundleDeployment, Operator or ClusterExtension of the name has changed. Returns
   * the packages whose bundles have changed with it.
   */
  note(name: string): ReadonlySet<string> {
    const before = this.#known.get(name);
    const now = this.#knownOf(name);
    if (now?.text === before?.text) return new Set();
    if (now === undefined) this.#known.delete(name);
    else this.#known.set(name, now);
    const packages = new Set([...(before?.packages ?? []), ...(now?.packages ?? [])]);
    const { any, ofPackages } = this.#revisions;
    const changed = [...packages].map((each) => [each, any + 1] as const);
    this.#revisions = { any: any + 1, ofPackages: new Map([...ofPackages, ...changed]) };
    return packages;
  }

  /** Those of all extensions but one. */
  presentBeside(id: string): readonly PresentBundle[] {
    return this.#kinds.flatMap(({ kind, objects }) =>
      objects.list().flatMap((object) => {
        const extension = kind.read(object);
        return extension.id === id ? [] : presentBundles(this.#recordsOf(extension));
      }),
    );
  }

  #knownOf(name: string): KnownRecords | undefined {
    const records = this.#kinds.flatMap(({ kind, objects }) => {
      const object = objects.get({ name });
      return object === undefined ? [] : [this.#recordsOf(kind.read(object))];
    });
    const bundles = records.flatMap(({ installed, selected }) => [installed, selected]);
    const packages = bundles.filter((each) => each !== undefined).map((each) => each.package);
    return packages.length === 0 ? undefined : { text: JSON.stringify(records), packages };
  }

  #recordsOf(extension: Extension): Records {
    const { name, object } = extension;
    const { installed, record } = installationOf(extension, this.#deployments.get({ name }));
    return { of: `${object.kind} "${name}"`, installed, selected: record?.selected };
  }
}

interface KnownRecords {
  readonly text: string;
  readonly packages: readonly string[];
}

/** The records of one extension's bundles. */
interface Records {
  readonly of: string;
  readonly installed: BundleRecord | undefined;
  readonly selected: BundleRecord | undefined;
}

function presentBundles({ of, installed, selected }: Records): readonly PresentBundle[] {
  const found: PresentBundle[] = [];
  if (installed !== undefined) found.push({ ...present(installed), of, isInstalled: true });
  if (selected !== undefined && selected.image !== installed?.image) {
    found.push({ ...present(selected), of, isInstalled: false });
  }
  return found;
}

function present({ package: packageName, name, version, image }: BundleRecord) {
  const properties = [{ type: 'olm.package', value: { packageName, version } }];
  return { packageName, bundle: { name, image, version: readVersion(version), properties } };
}
