import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { ClusterFacts, ClusterProxy } from '../../contracts/provisioner.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  isNotFound,
  type KubeClient,
  Reflector,
  type Resource,
  type ServedApis,
} from '../../platform/kube/index.ts';
import { IndexedCache } from '../../platform/runtime/index.ts';

interface ClusterFactsOptions extends ProxyWatchOptions {
  readonly client: Pick<KubeClient, 'request' | 'get' | 'list' | 'watch'>;
  readonly discovery: ServedApis;
  readonly systemNamespace: string;
}

interface ReadFacts {
  readonly facts: ClusterFacts;
  /** Differs whenever the facts differ. */
  readonly digest: string;
}

const versionSchema = z.object({ gitVersion: z.string() });

/**
 * The facts about the cluster for classes: read once, and again when discovery is refreshed or
 * proxies change.
 */
export class ClusterFactsReader {
  readonly #options: ClusterFactsOptions;
  readonly #proxies: ProxyWatch;
  #last: ReadFacts | undefined;

  constructor(options: ClusterFactsOptions) {
    this.#options = options;
    this.#proxies = new ProxyWatch(options);
  }

  async read(signal: AbortSignal): Promise<ReadFacts> {
    const { client, discovery, systemNamespace } = this.#options;
    const apiVersions = await discovery.apiVersions(signal);
    const proxy = await this.#proxies.read(apiVersions, signal);
    const last = this.#last?.facts;
    if (this.#last !== undefined && last?.apiVersions === apiVersions && last.proxy === proxy) {
      return this.#last;
    }
    const answer = await client.request({ method: 'GET', path: '/version', signal });
    const { gitVersion: version } = versionSchema.parse(answer);
    const text = JSON.stringify([version, apiVersions, proxy]);
    const digest = createHash('sha256').update(text).digest('base64url');
    const facts = { version, apiVersions, systemNamespace };
    this.#last = { facts: proxy === undefined ? facts : { ...facts, proxy }, digest };
    return this.#last;
  }

  /** Calls back when the facts may have changed, except for served kinds, which are not watched. */
  onChange(listener: () => void): void {
    this.#proxies.onChange(listener);
  }
}

interface ProxyWatchOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

const proxyResource: Resource = {
  group: 'config.openshift.io',
  version: 'v1',
  kind: 'Proxy',
  plural: 'proxies',
  namespaced: false,
};
const servedAs = 'config.openshift.io/v1/Proxy';
/** The only object of the kind that has an effect. */
const key = { name: 'cluster' };

interface Watch {
  readonly reflector: Reflector;
  readonly cache: IndexedCache;
  readonly abort: AbortController;
}

/**
 * Reads and watches the proxies of a cluster that has the kind for them. Sends no requests to other
 * clusters.
 */
class ProxyWatch {
  readonly #options: ProxyWatchOptions;
  readonly #listeners = new Set<() => void>();
  #watch: Watch | undefined;
  /** The last reported proxies, if any. */
  #told: { readonly proxy: ClusterProxy | undefined } | undefined;

  constructor(options: ProxyWatchOptions) {
    this.#options = options;
  }

  /** The present proxies, if any; the same object until they change. */
  async read(
    apiVersions: readonly string[],
    signal: AbortSignal,
  ): Promise<ClusterProxy | undefined> {
    if (!apiVersions.includes(servedAs)) {
      this.#watch?.abort.abort();
      this.#watch = undefined;
      this.#told = undefined;
      return undefined;
    }
    this.#watch ??= this.#start();
    const proxy = await this.#current(this.#watch, signal);
    if (this.#told === undefined || !isSame(proxy, this.#told.proxy)) this.#told = { proxy };
    return this.#told.proxy;
  }

  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  async #current(watch: Watch, signal: AbortSignal): Promise<ClusterProxy | undefined> {
    if (knows(watch)) return proxyIn(watch.cache.get(key));
    const read = await this.#get(signal);
    // The watch is at least as recent as the read.
    return proxyIn(knows(watch) ? watch.cache.get(key) : read);
  }

  async #get(signal: AbortSignal): Promise<KubernetesObject | undefined> {
    try {
      return await this.#options.client.get(proxyResource, key, signal);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #start(): Watch {
    const { signal, ...options } = this.#options;
    const cache = new IndexedCache();
    cache.onChange(({ type, object }) => {
      if (object.metadata.name !== key.name) return;
      const proxy = type === 'deleted' ? undefined : proxyIn(object);
      if (this.#told === undefined || isSame(proxy, this.#told.proxy)) return;
      this.#told = { proxy };
      for (const listener of this.#listeners) listener();
    });
    const reflector = new Reflector({ ...options, resource: proxyResource, sink: cache });
    const abort = new AbortController();
    void reflector.run(AbortSignal.any([signal, abort.signal]));
    return { reflector, cache, abort };
  }
}

function knows({ reflector }: Watch): boolean {
  return reflector.synced && reflector.lastError === undefined;
}

const fields = ['httpProxy', 'httpsProxy', 'noProxy'] as const;

/** The status has the proxies that the cluster has validated and completed. */
function proxyIn(object: KubernetesObject | undefined): ClusterProxy | undefined {
  const { status } = (object ?? {}) as { readonly status?: Readonly<Record<string, unknown>> };
  const set = fields.flatMap((field) => {
    const value = status?.[field];
    return typeof value === 'string' && value !== '' ? [[field, value]] : [];
  });
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

function isSame(a: ClusterProxy = {}, b: ClusterProxy = {}): boolean {
  return fields.every((field) => a[field] === b[field]);
}
