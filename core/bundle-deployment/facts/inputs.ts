import type { KubernetesObject } from '../../../api/meta.ts';
import { clientOf } from '../../apply/index.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { InputReference } from '../../contracts/provisioner.ts';
import { errorMessage } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  configMapResource,
  createConfigMapReader,
  createSecretReader,
  type KubeClient,
  Reflector,
  secretResource,
  versionOnly,
} from '../../platform/kube/index.ts';
import { IndexedCache } from '../../platform/runtime/index.ts';
import type { Inputs } from './input-references.ts';

type Content = ReadonlyMap<string, Uint8Array>;

interface ReadInputsOptions {
  readonly client: KubeClient;
  readonly systemNamespace: string;
}

/**
 * The values of a class's inputs, read with the permissions of the deployment, so that its objects
 * cannot contain values that it may not read.
 * @throws Error that names the first missing or forbidden object or key.
 */
export async function readInputs(
  { deployment, references }: Inputs,
  options: ReadInputsOptions,
  signal: AbortSignal,
): Promise<readonly (Uint8Array | undefined)[]> {
  const client = clientOf(deployment, options.client);
  const reads = new Map<string, Promise<Content | undefined>>();
  const contentOf = (reference: InputReference): Promise<Content | undefined> => {
    const name = nameOf(reference);
    const read = reads.get(name) ?? contentIn(reference, { ...options, client }, signal);
    reads.set(name, read);
    return read;
  };
  return await Promise.all(
    references.map(async (reference) => {
      const value = await valueOf(reference, contentOf);
      if (value === undefined && reference.optional !== true) {
        const { provisionerClassName: className } = deployment.spec;
        throw missing(reference, { className, namespace: options.systemNamespace });
      }
      return value;
    }),
  );
}

async function valueOf(
  reference: InputReference,
  contentOf: (reference: InputReference) => Promise<Content | undefined>,
): Promise<Uint8Array | undefined> {
  try {
    return (await contentOf(reference))?.get(reference.key);
  } catch (error) {
    throw new Error(`cannot read ${nameOf(reference)}: ${errorMessage(error)}`, { cause: error });
  }
}

async function contentIn(
  { kind, name }: InputReference,
  { client, systemNamespace }: ReadInputsOptions,
  signal: AbortSignal,
): Promise<Content | undefined> {
  if (kind === 'ConfigMap') {
    return await createConfigMapReader(client, systemNamespace).read(name, signal);
  }
  return (await createSecretReader(client, systemNamespace).read(name, signal))?.data;
}

/** A class may ask for what spec.config names, or for what it always needs. */
function missing(
  reference: InputReference,
  { className, namespace }: { readonly className: string; readonly namespace: string },
): Error {
  const { key } = reference;
  return new Error(
    `class "${className}" asks for key "${key}" of ${nameOf(reference)} in namespace "${namespace}", which does not exist: create it, or correct spec.config if that names it`,
  );
}

function nameOf({ kind, name }: InputReference): string {
  return `${kind} "${name}"`;
}

interface InputWatchOptions {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly systemNamespace: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the watches. */
  readonly signal: AbortSignal;
}

interface KindWatch {
  readonly reflector: Reflector;
  readonly cache: IndexedCache;
}

type InputKind = InputReference['kind'];

const resources = { ConfigMap: configMapResource, Secret: secretResource } as const;

/**
 * Watches the versions of ConfigMaps and Secrets of the system namespace, and reports changes.
 * Receives metadata only; starts the watch of a kind at its first use.
 */
export class InputWatch {
  readonly #options: InputWatchOptions;
  readonly #watches = new Map<InputKind, KindWatch>();
  readonly #listeners = new Set<(kind: InputKind, name: string) => void>();

  constructor(options: InputWatchOptions) {
    this.#options = options;
  }

  /** Undefined while the watch does not know; `absent` when the object does not exist. */
  versionOf({ kind, name }: InputReference): string | undefined {
    const watch = this.#watches.get(kind) ?? this.#start(kind);
    const { synced, lastError } = watch.reflector;
    if (!synced || lastError !== undefined) return undefined;
    const namespace = this.#options.systemNamespace;
    const object = watch.cache.get({ namespace, name });
    return object === undefined ? 'absent' : versionIn(object);
  }

  onChange(listener: (kind: InputKind, name: string) => void): void {
    this.#listeners.add(listener);
  }

  #start(kind: InputKind): KindWatch {
    const { client, clock, logger, signal, systemNamespace: namespace } = this.#options;
    const cache = new IndexedCache();
    cache.onChange(({ object }) => {
      for (const listener of this.#listeners) listener(kind, object.metadata.name ?? '');
    });
    const watching = { client, clock, logger, namespace, metadataOnly: true, sink: cache };
    const reflector = new Reflector({
      ...watching,
      resource: resources[kind],
      transform: versionOnly,
    });
    void reflector.run(signal);
    const watch = { reflector, cache };
    this.#watches.set(kind, watch);
    return watch;
  }
}

function versionIn({ metadata: { uid, resourceVersion } }: KubernetesObject): string {
  return `${uid}/${resourceVersion}`;
}
