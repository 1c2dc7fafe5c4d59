import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ClusterFacts } from '../../contracts/provisioner.ts';
import type { KubeClient, ServedApis } from '../../platform/kube/index.ts';
import { ProxyWatch, type ProxyWatchOptions } from './proxy-watch.ts';

export interface ClusterFactsOptions extends ProxyWatchOptions {
  readonly client: Pick<KubeClient, 'request' | 'get' | 'list' | 'watch'>;
  readonly discovery: ServedApis;
  readonly systemNamespace: string;
}

interface ReadFacts {
  readonly facts: ClusterFacts;
  /** Another one wherever the facts are others. */
  readonly digest: string;
}

const versionSchema = z.object({ gitVersion: z.string() });

/** What classes are told of the cluster: read once, and again when discovery is or proxies change. */
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

  /** Calls back where a read would give others. What is served is not watched for that. */
  onChange(listener: () => void): void {
    this.#proxies.onChange(listener);
  }
}
