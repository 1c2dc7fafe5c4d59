import type { KubernetesObject } from '../../../api/meta.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { InputReference } from '../../contracts/provisioner.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  configMapResource,
  type KubeClient,
  Reflector,
  secretResource,
  versionOnly,
} from '../../platform/kube/index.ts';
import { IndexedCache } from '../../platform/runtime/index.ts';

export interface InputWatchOptions {
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
 * Knows which version of a ConfigMap or Secret of the system namespace there is, and tells when
 * that changes. Sees their metadata only; a kind is watched from when it is first asked for.
 */
export class InputWatch {
  readonly #options: InputWatchOptions;
  readonly #watches = new Map<InputKind, KindWatch>();
  readonly #listeners = new Set<(kind: InputKind, name: string) => void>();

  constructor(options: InputWatchOptions) {
    this.#options = options;
  }

  /** Undefined while the watch cannot tell; `absent` where there is no such object. */
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
