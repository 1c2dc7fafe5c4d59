import type { KubernetesObject } from '../../../api/meta.ts';
import { clusterExtensionResource } from '../../../api/olm/v1/index.ts';
import { operatorResource } from '../../../api/operators/v1alpha1/index.ts';
import { type BundleDeployment, bundleDeploymentResource } from '../../../api/v1alpha1/index.ts';
import {
  isNotFound,
  type KubeClient,
  type Resource,
  TerminalError,
} from '../../../core/controller.ts';
import {
  clusterExtensionKind,
  type ExtensionKind,
  installationOf,
  Neighbours,
  operatorKind,
  type Subject,
} from '../../extensions/index.ts';
import { type ExtensionRow, extensionRow, ownersOf } from './extension-row.ts';

export type ExtensionKindName = 'Operator' | 'ClusterExtension';

type ByKind<T> = Readonly<Record<ExtensionKindName, T>>;

export const extensionResources: ByKind<Resource> = {
  Operator: operatorResource,
  ClusterExtension: clusterExtensionResource,
};

interface ReadOptions {
  /** As `rukpak operators` has it by its `--feature-gates`, which the cluster does not tell. */
  readonly forceSemverUpgradeConstraints?: boolean | undefined;
}

type Lister = Pick<KubeClient, 'list'>;

/** The Operators and ClusterExtensions of a cluster. */
export class ClusterExtensions {
  readonly #client: Lister;
  readonly #signal: AbortSignal;
  readonly #kinds: ByKind<ExtensionKind>;
  readonly #objects: ReadonlyMap<ExtensionKindName, readonly KubernetesObject[]>;
  #deployments: Promise<readonly BundleDeployment[]> | undefined;

  private constructor(
    objects: ReadonlyMap<ExtensionKindName, readonly KubernetesObject[]>,
    kinds: ByKind<ExtensionKind>,
    { client, signal }: { readonly client: Lister; readonly signal: AbortSignal },
  ) {
    this.#objects = objects;
    this.#kinds = kinds;
    this.#client = client;
    this.#signal = signal;
  }

  /** @throws ApiError, unless the cluster does not serve a kind */
  static async read(
    client: Lister,
    signal: AbortSignal,
    { forceSemverUpgradeConstraints = true }: ReadOptions = {},
  ): Promise<ClusterExtensions> {
    const objects = new Map<ExtensionKindName, readonly KubernetesObject[]>();
    for (const kind of ['Operator', 'ClusterExtension'] as const) {
      const found = await listServed(client, extensionResources[kind], signal);
      if (found !== undefined) objects.set(kind, found);
    }
    const kinds = {
      Operator: operatorKind({ forceSemverUpgradeConstraints }),
      ClusterExtension: clusterExtensionKind,
    };
    return new ClusterExtensions(objects, kinds, { client, signal });
  }

  /** The kinds that the cluster serves. */
  get kinds(): ReadonlySet<ExtensionKindName> {
    return new Set(this.#objects.keys());
  }

  /** All of them, Operators first, by name. */
  get rows(): readonly ExtensionRow[] {
    return [...this.#objects.values()].flatMap((objects) =>
      objects.map(extensionRow).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    );
  }

  get(kind: ExtensionKindName, name: string): KubernetesObject | undefined {
    return this.#objects.get(kind)?.find(({ metadata }) => metadata.name === name);
  }

  /**
   * The object that a user names: `painter`, `operator/painter` or `clusterextension/painter`.
   * Undefined if there is none.
   * @throws TerminalError if both kinds have an object of that name
   */
  find(reference: string): KubernetesObject | undefined {
    const { name, kinds } = parsed(reference);
    const found = kinds.map((kind) => this.get(kind, name)).filter((each) => each !== undefined);
    if (found.length < 2) return found[0];
    throw new TerminalError(
      `Operator "${name}" and ClusterExtension "${name}" exist: write operator/${name} or clusterextension/${name}`,
    );
  }

  /** @throws TerminalError also if there is none */
  named(reference: string): KubernetesObject {
    const object = this.find(reference);
    if (object !== undefined) return object;
    const { name, kinds } = parsed(reference);
    const ofPackage = this.rows.find((row) => row.package === name);
    const hint =
      ofPackage === undefined
        ? ''
        : `; ${ofPackage.kind} "${ofPackage.name}" has the package of this name`;
    throw new TerminalError(`there is no ${kinds.join(' or ')} "${name}"${hint}`);
  }

  /** Names of the Operators that are deleted with an object, since nothing else owns them. */
  deletedWith({ metadata }: KubernetesObject): readonly string[] {
    return (this.#objects.get('Operator') ?? [])
      .filter((each) => {
        const owners = ownersOf(each);
        return owners.length > 0 && owners.every(({ uid }) => uid === metadata.uid);
      })
      .map((each) => each.metadata.name ?? '');
  }

  /**
   * What the resolver needs to know of an object, which may differ from the one in the cluster, or
   * not exist.
   */
  async subjectOf(object: KubernetesObject): Promise<Subject> {
    this.#deployments ??= this.#listDeployments();
    const all = await this.#deployments;
    const byName = new Map(all.map((each) => [each.metadata.name ?? '', each]));
    const deployments = { get: ({ name }: { readonly name: string }) => byName.get(name) };
    const kinds = [...this.#objects].map(([kind, objects]) => ({
      kind: this.#kinds[kind],
      objects: {
        list: () => [...objects],
        get: ({ name }: { readonly name: string }) =>
          [...objects].find(({ metadata }) => metadata.name === name),
      },
    }));
    const extension = this.#kinds[object.kind as ExtensionKindName].read(object);
    const neighbours = new Neighbours(kinds, deployments);
    return {
      extension,
      installation: installationOf(extension, byName.get(extension.name)),
      present: () => neighbours.presentBeside(extension.id),
    };
  }

  async #listDeployments(): Promise<readonly BundleDeployment[]> {
    const found = await listServed(this.#client, bundleDeploymentResource, this.#signal);
    return (found ?? []) as readonly BundleDeployment[];
  }
}

const kindOfPrefix: ReadonlyMap<string, ExtensionKindName> = new Map([
  ['operator', 'Operator'],
  ['clusterextension', 'ClusterExtension'],
]);

function parsed(reference: string): {
  readonly name: string;
  readonly kinds: readonly ExtensionKindName[];
} {
  const [prefix = '', name] = reference.split(/\/(.*)/s);
  const kind = name === undefined ? undefined : kindOfPrefix.get(prefix.toLowerCase());
  if (name !== undefined && kind !== undefined) return { name, kinds: [kind] };
  return { name: reference, kinds: ['Operator', 'ClusterExtension'] };
}

async function listServed(
  client: Lister,
  resource: Resource,
  signal: AbortSignal,
): Promise<readonly KubernetesObject[] | undefined> {
  try {
    return (await client.list(resource, { signal })).items;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
