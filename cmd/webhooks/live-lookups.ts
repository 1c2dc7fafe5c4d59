import { type Bundle, bundleResource } from '../../api/v1alpha1/index.ts';
import { abortable } from '../../core/platform/clock.ts';
import {
  configMapResource,
  type KubeClient,
  listAll,
  liveObject,
} from '../../core/platform/kube/index.ts';
import type { AdmissionRouteOptions, BundleLister } from '../../webhooks/index.ts';

/** What one Bundle says of ConfigMaps. */
interface Reference {
  readonly bundle: string;
  readonly configMaps: readonly string[];
}

/**
 * The Bundles that use a ConfigMap. A watch may be late: it still has a Bundle whose ConfigMap a
 * user deletes right after it, and lacks one that was just created. So the API server confirms each
 * Bundle, and when none is left it lists them.
 */
export function bundleReferences(
  client: Pick<KubeClient, 'get' | 'list'>,
  watched: (configMapName: string) => readonly string[],
): BundleLister {
  const lists = new SharedReads(() => listReferences(client));
  return {
    async bundlesReferencing(configMapName, signal) {
      const names = watched(configMapName);
      const isThere = await Promise.all(names.map((name) => exists(client, name, signal)));
      const found = names.filter((_, at) => isThere[at]);
      if (found.length > 0) return found;
      const references = await abortable(lists.read(), signal);
      return references
        .filter(({ configMaps }) => configMaps.includes(configMapName))
        .map(({ bundle }) => bundle);
    },
  };
}

/** Names of the ConfigMaps of a Bundle's source. */
export function configMapsOf({ spec }: Bundle): readonly string[] {
  return spec.source.configMaps?.map(({ configMap }) => configMap.name ?? '') ?? [];
}

async function listReferences(client: Pick<KubeClient, 'list'>): Promise<readonly Reference[]> {
  const { items } = await listAll<Reference>(client, bundleResource, {
    transform: (object) => ({
      bundle: object.metadata.name ?? '',
      configMaps: configMapsOf(object as Bundle),
    }),
  });
  return items.filter(({ configMaps }) => configMaps.length > 0);
}

async function exists(
  client: Pick<KubeClient, 'get'>,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  const target = { resource: bundleResource, key: { name } };
  return (await liveObject(client, target, signal)) !== undefined;
}

/**
 * ConfigMaps from a watch. It may be late: the API server is asked for those that it lacks, and for
 * those that it says are mutable.
 */
export function configMapReader(
  client: Pick<KubeClient, 'get'>,
  namespace: string,
  watched: (name: string) => { readonly immutable?: boolean } | undefined,
): AdmissionRouteOptions['configMaps'] {
  return {
    async get(name, signal) {
      const known = watched(name);
      if (known?.immutable === true) return known;
      const target = { resource: configMapResource, key: { namespace, name } };
      const live = await liveObject(client, target, signal);
      return live && { immutable: live['immutable'] === true };
    },
  };
}

/**
 * One read at a time, however many ask: strangers may send reviews too. Each gets a read that began
 * after its question.
 */
class SharedReads<T> {
  readonly #read: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(read: () => Promise<T>) {
    this.#read = read;
  }

  read(): Promise<T> {
    if (this.#running === undefined) return this.#start();
    const begin = () => this.#start();
    this.#next ??= this.#running.then(begin, begin);
    return this.#next;
  }

  #start(): Promise<T> {
    this.#next = undefined;
    const running = this.#read().finally(() => {
      this.#running = undefined;
    });
    this.#running = running;
    return running;
  }
}
