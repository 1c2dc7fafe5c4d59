import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Logger } from '../../contracts/logger.ts';
import { errorMessage } from '../../errors.ts';
import { ApiError, isNotFound } from '../../kube/api-error.ts';
import { secretResource } from '../../kube/core-resources.ts';
import type { KubeClient } from '../../kube/kube-client.ts';
import type { GroupVersionKind } from '../../kube/resource.ts';
import { stringAt } from '../json-fields.ts';
import { describeObject } from '../object-id.ts';
import { releaseKinds } from './release-kinds.ts';
import { type ReleaseSecret, releaseSecrets } from './release-secrets.ts';

type GroupKind = Pick<GroupVersionKind, 'group' | 'kind'>;

/** Revisions that are read where none of them was ever finished. */
const maxRevisions = 10;

export interface FormerReleasesOptions {
  readonly client: KubeClient;
  readonly events: EventSink;
  readonly logger: Logger;
  readonly systemNamespace: string;
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
    for (const { name } of wanted.slice(0, maxRevisions)) {
      kinds.push(...(await this.#read(owner, name, signal)));
    }
    return kinds;
  }

  async #revisions(name: string, signal: AbortSignal): Promise<readonly ReleaseSecret[]> {
    const { client, systemNamespace: namespace, logger } = this.#options;
    try {
      return await releaseSecrets(client, { namespace, deployment: name, signal });
    } catch (error) {
      // A manager of other classes than RukPak's needs no Secrets.
      if (!(error instanceof ApiError) || error.code !== 403) throw error;
      logger.info({ namespace }, 'may not look for releases of RukPak');
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
