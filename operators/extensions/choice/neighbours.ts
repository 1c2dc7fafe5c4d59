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

/** The bundles that Operators and ClusterExtensions have and ask for, as their records know them. */
export class Neighbours {
  readonly #kinds: readonly NeighbourKind[];
  readonly #deployments: Pick<IndexedCache<BundleDeployment>, 'get'>;
  /** The records of each name that has any, as text. */
  readonly #known = new Map<string, string>();
  #revision = 0;

  constructor(
    kinds: readonly NeighbourKind[],
    deployments: Pick<IndexedCache<BundleDeployment>, 'get'>,
  ) {
    this.#kinds = kinds;
    this.#deployments = deployments;
  }

  /** Changes when any bundle may have changed. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * Call this when a BundleDeployment, Operator or ClusterExtension of the name has changed. Returns
   * whether its bundles have.
   */
  note(name: string): boolean {
    const records = this.#kinds.flatMap(({ kind, objects }) => {
      const object = objects.get({ name });
      return object === undefined ? [] : [this.#recordsOf(kind.read(object))];
    });
    const isAny = records.some(({ installed, selected }) => installed ?? selected);
    const now = isAny ? JSON.stringify(records) : undefined;
    if (now === this.#known.get(name)) return false;
    if (now === undefined) this.#known.delete(name);
    else this.#known.set(name, now);
    this.#revision += 1;
    return true;
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

  #recordsOf(extension: Extension): Records {
    const { name, object } = extension;
    const { installed, record } = installationOf(extension, this.#deployments.get({ name }));
    return { of: `${object.kind} "${name}"`, installed, selected: record?.selected };
  }
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
