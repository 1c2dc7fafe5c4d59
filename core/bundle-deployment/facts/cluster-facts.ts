import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ClusterFacts } from '../../contracts/provisioner.ts';
import type { ServedApis } from '../../kube/discovery.ts';
import type { KubeClient } from '../../kube/kube-client.ts';

export interface ClusterFactsOptions {
  readonly client: Pick<KubeClient, 'request'>;
  readonly discovery: ServedApis;
  readonly systemNamespace: string;
}

interface ReadFacts {
  readonly facts: ClusterFacts;
  /** Another one wherever the facts are others. */
  readonly digest: string;
}

const versionSchema = z.object({ gitVersion: z.string() });

/** What classes are told of the cluster: read once, and again when discovery is. */
export class ClusterFactsReader {
  readonly #options: ClusterFactsOptions;
  #last: ReadFacts | undefined;

  constructor(options: ClusterFactsOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<ReadFacts> {
    const { client, discovery, systemNamespace } = this.#options;
    const apiVersions = await discovery.apiVersions(signal);
    if (this.#last?.facts.apiVersions === apiVersions) return this.#last;
    const answer = await client.request({ method: 'GET', path: '/version', signal });
    const { gitVersion: version } = versionSchema.parse(answer);
    const text = JSON.stringify([version, apiVersions]);
    const digest = createHash('sha256').update(text).digest('base64url');
    this.#last = { facts: { version, apiVersions, systemNamespace }, digest };
    return this.#last;
  }
}
