import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Logger } from '../../contracts/logger.ts';
import { errorMessage } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  ApiError,
  isNotFound,
  type KubeClient,
  secretResource,
} from '../../platform/kube/index.ts';
import { stringAt } from '../fields/json-fields.ts';
import type { GroupKind } from '../objects/group-kind.ts';
import { describeObject } from '../objects/object-id.ts';
import { releaseKinds } from './release-kinds.ts';
import { type ReleaseSecret, releaseSecrets } from './release-secrets.ts';

/** Revisions that are read where none of them was ever finished. */
const maxRevisions = 10;
/** How long one list of all releases does: a thousand new deployments ask for theirs at once. */
const listLifetime = 60_000;

export interface FormerReleasesOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly events: EventSink;
  readonly logger: Logger;
  readonly systemNamespace: string;
  /** Ends a list that several wait for. */
  readonly signal: AbortSignal;
}

interface SharedList {
  readonly at: number;
  readonly releases: Promise<readonly ReleaseSecret[]>;
}

/** The Helm releases that RukPak kept its deployments as, in Secrets of the system namespace. */
export class FormerReleases {
  readonly #options: FormerReleasesOptions;
  #shared: SharedList | undefined;

  constructor(options: FormerReleasesOptions) {
    this.#options = options;
  }

  /**
   * The kinds of what RukPak installed for a deployment: those of the last revision that it
   * finished, and of all that it began since. A Secret that cannot be read is a Warning event, and
   * nothing else waits for it.
   */
  async kinds(owner: BundleDeployment, signal: AbortSignal): Promise<readonly GroupKind[]> {
    const name = owner.metadata.name ?? '';
    const listed = await this.#listed();
    const revisions = listed.filter(({ deployment }) => deployment === name);
    const finished = revisions.findIndex(({ deployed }) => deployed);
    const wanted = revisions.slice(0, finished === -1 ? maxRevisions : finished + 1);
    const kinds: GroupKind[] = [];
    for (const { name } of wanted.slice(0, maxRevisions)) {
      kinds.push(...(await this.#read(owner, name, signal)));
    }
    return kinds;
  }

  /** The releases of all deployments; those who ask at the same time share one request. */
  async #listed(): Promise<readonly ReleaseSecret[]> {
    const now = this.#options.clock.monotonic();
    if (this.#shared === undefined || now - this.#shared.at > listLifetime) {
      const list = { at: now, releases: this.#list() };
      this.#shared = list;
      // What failed is asked again by the next.
      list.releases.catch(() => {
        if (this.#shared === list) this.#shared = undefined;
      });
    }
    return await this.#shared.releases;
  }

  async #list(): Promise<readonly ReleaseSecret[]> {
    const { client, systemNamespace: namespace, logger, signal } = this.#options;
    try {
      return await releaseSecrets(client, { namespace, signal });
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
