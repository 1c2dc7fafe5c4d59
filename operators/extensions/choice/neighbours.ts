import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import type { CacheChange, IndexedCache } from '../../../core/controller.ts';
import type { PresentBundle } from '../../../resolver/olm1/index.ts';
import { readVersion } from '../../../resolver/versions/index.ts';
import type { BundleRecord } from '../deployment/bundle-record.ts';
import { installationOf } from '../deployment/installation.ts';
import type { ExtensionKind } from '../extension.ts';

export interface NeighbourKind {
  readonly kind: ExtensionKind;
  readonly objects: Pick<IndexedCache, 'list'>;
}

/** The bundles that Operators and ClusterExtensions have and ask for, as their records know them. */
export class Neighbours {
  readonly #kinds: readonly NeighbourKind[];
  readonly #deployments: Pick<IndexedCache<BundleDeployment>, 'get'>;
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

  /** Whether the change of a BundleDeployment is one of the bundles. */
  note({ object, previous }: CacheChange<BundleDeployment>): boolean {
    const isNews =
      previous === undefined ||
      object.status?.activeBundle !== previous.status?.activeBundle ||
      object.metadata.annotations !== previous.metadata.annotations;
    if (isNews) this.#revision += 1;
    return isNews;
  }

  /** Those of all extensions but one. */
  presentBeside(id: string): readonly PresentBundle[] {
    return this.#kinds.flatMap(({ kind, objects }) =>
      objects.list().flatMap((object) => this.#bundlesOf(kind, object, id)),
    );
  }

  #bundlesOf(kind: ExtensionKind, object: KubernetesObject, except: string) {
    const extension = kind.read(object);
    const { id, name } = extension;
    const deployment = this.#deployments.get({ name });
    if (id === except || deployment === undefined) return [];
    const { installed, record } = installationOf(extension, deployment);
    const of = `${object.kind} "${name}"`;
    const found: PresentBundle[] = [];
    if (installed !== undefined) found.push({ ...present(installed), of, isInstalled: true });
    if (record !== undefined && record.selected.image !== installed?.image) {
      found.push({ ...present(record.selected), of, isInstalled: false });
    }
    return found;
  }
}

function present({ package: packageName, name, version, image }: BundleRecord) {
  const properties = [{ type: 'olm.package', value: { packageName, version } }];
  return { packageName, bundle: { name, image, version: readVersion(version), properties } };
}
