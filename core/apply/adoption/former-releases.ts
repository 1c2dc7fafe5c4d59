import { z } from 'zod';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Logger } from '../../contracts/logger.ts';
import { errorMessage } from '../../errors.ts';
import { ApiError, isNotFound } from '../../kube/api-error.ts';
import type { KubeClient } from '../../kube/kube-client.ts';
import { collectionPath, queryString } from '../../kube/object-url.ts';
import type { GroupVersionKind, Resource } from '../../kube/resource.ts';
import { stringAt } from '../json-fields.ts';
import { describeObject } from '../object-id.ts';
import { releaseKinds } from './release-kinds.ts';

type GroupKind = Pick<GroupVersionKind, 'group' | 'kind'>;

const secretResource: Resource = {
  group: '',
  version: 'v1',
  kind: 'Secret',
  plural: 'secrets',
  namespaced: true,
};

/** Revisions that are read where none of them was ever finished. */
const maxRevisions = 10;

const itemSchema = z.object({
  metadata: z.object({
    name: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
  }),
});

// An empty list has null for its items.
const listSchema = z.object({ items: z.array(itemSchema).nullable() });

export interface FormerReleasesOptions {
  readonly client: KubeClient;
  readonly events: EventSink;
  readonly logger: Logger;
  readonly systemNamespace: string;
}

interface Revision {
  readonly secret: string;
  readonly number: number;
  readonly deployed: boolean;
}

/** The Helm releases that RukPak kept its deployments as, in Secrets of the system namespace. */
export class FormerReleases {
  readonly #options: FormerReleasesOptions;

  constructor(options: FormerReleasesOptions) {
    this.#options = options;
  }

  /**
   * The kinds of what RukPak installed for a deployment: those of the last revision that it
   * finished, and of all that it began since. A Secret that cannot be read is a Warning event, and
   * nothing else waits for it.
   */
  async kinds(owner: BundleDeployment, signal: AbortSignal): Promise<readonly GroupKind[]> {
    const revisions = await this.#revisions(owner.metadata.name ?? '', signal);
    const finished = revisions.findIndex(({ deployed }) => deployed);
    const wanted = revisions.slice(0, finished === -1 ? maxRevisions : finished + 1);
    const kinds: GroupKind[] = [];
    for (const { secret } of wanted.slice(0, maxRevisions)) {
      kinds.push(...(await this.#read(owner, secret, signal)));
    }
    return kinds;
  }

  /** The newest first. Their contents would be megabytes: only metadata is asked for. */
  async #revisions(name: string, signal: AbortSignal): Promise<readonly Revision[]> {
    const { client, systemNamespace, logger } = this.#options;
    const query = {
      labelSelector: `owner=helm,name=${name}`,
      fieldSelector: 'type=helm.sh/release.v1',
    };
    try {
      const answer = await client.request({
        method: 'GET',
        path: collectionPath(secretResource, systemNamespace) + queryString(query),
        accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
        signal,
      });
      const { items } = listSchema.parse(answer);
      return (items ?? []).map(revisionOf).toSorted((a, b) => b.number - a.number);
    } catch (error) {
      // A manager of other classes than RukPak's needs no Secrets.
      if (!(error instanceof ApiError) || error.code !== 403) throw error;
      logger.info({ namespace: systemNamespace }, 'may not look for releases of RukPak');
      return [];
    }
  }

  async #read(
    owner: BundleDeployment,
    name: string,
    signal: AbortSignal,
  ): Promise<readonly GroupKind[]> {
    const { client, systemNamespace, events } = this.#options;
    const key = { namespace: systemNamespace, name };
    let release: string;
    try {
      const secret = await client.get(secretResource, key, signal);
      release = stringAt(secret, 'data', 'release') ?? '';
    } catch (error) {
      if (isNotFound(error)) return [];
      throw error;
    }
    try {
      return await releaseKinds(release);
    } catch (error) {
      events.event(owner, {
        type: 'Warning',
        reason: 'ReleaseUnreadable',
        message:
          `the release of RukPak in ${describeObject('Secret', key)} cannot be read: ` +
          `${errorMessage(error)}. Objects of kinds that the bundle no longer has are not removed`,
      });
      return [];
    }
  }
}

function revisionOf({ metadata: { name, labels } }: z.infer<typeof itemSchema>) {
  return {
    secret: name,
    number: Number(labels['version'] ?? 0) || 0,
    deployed: labels['status'] === 'deployed',
  } satisfies Revision;
}
