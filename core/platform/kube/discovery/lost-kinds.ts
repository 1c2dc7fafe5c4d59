import type { Logger } from '../../../contracts/logger.ts';
import type { Clock } from '../../clock.ts';
import { isForbidden } from '../api-error.ts';
import type { KubeClient } from '../kube-client.ts';
import { apiServiceResource, definitionResource, type Resource } from '../resource.ts';
import type { DiscoveredGroups } from './discovered-groups.ts';
import { definitionNames } from './unlisted-kinds.ts';

/** Milliseconds for which a kind must be missing before it counts as not served. */
const missingTime = 60_000;
/** Milliseconds between two discoveries while a kind is missing, or an API server does not answer. */
const recheck = { least: 5_000, most: 60_000 } as const;
const namedGroups = 10;

interface LostKindsOptions {
  readonly client: Pick<KubeClient, 'list'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger?: Logger | undefined;
}

interface Seen {
  /** The versions of the kind. */
  readonly resources: readonly Resource[];
  missingSince?: number;
}

/**
 * Remembers the kinds that the API server has served: right after its start it omits the kinds of
 * CRDs, so a missing kind may still exist.
 */
export class LostKinds {
  readonly #options: LostKindsOptions;
  /** By group and kind. */
  readonly #seen = new Map<string, Seen>();
  /** Since when an aggregated API server does not answer. */
  #incompleteSince: number | undefined;
  #told = '';

  constructor(options: LostKindsOptions) {
    this.#options = options;
  }

  /** Forgets a kind that is known to be deleted. */
  forget({ group, kind }: Pick<Resource, 'group' | 'kind'>): void {
    this.#seen.delete(keyOf({ group, kind }));
  }

  /**
   * Adds kinds to a new answer that may lack them by mistake. Returns the milliseconds until the
   * next discovery; undefined for a complete answer.
   */
  async complete(groups: DiscoveredGroups): Promise<number | undefined> {
    const served = Map.groupBy(groups.resources, keyOf);
    for (const [key, resources] of served) this.#seen.set(key, { resources });
    const missing = [...this.#seen].filter(([key]) => !served.has(key));
    const kept = missing.length === 0 ? [] : await this.#kept(missing, groups);
    this.#tell(kept);
    const now = this.#options.clock.monotonic();
    this.#incompleteSince = groups.isIncomplete ? (this.#incompleteSince ?? now) : undefined;
    const since = [this.#incompleteSince, ...kept.map(({ missingSince }) => missingSince)];
    const longest = Math.max(...since.flatMap((at) => (at === undefined ? [] : [now - at])));
    if (longest < 0) return undefined;
    return Math.min(Math.max(longest, recheck.least), recheck.most);
  }

  async #kept(
    missing: readonly (readonly [string, Seen])[],
    groups: DiscoveredGroups,
  ): Promise<readonly Seen[]> {
    const { client, clock } = this.#options;
    const isDefined = await definedKinds(client);
    const now = clock.monotonic();
    const kept: Seen[] = [];
    for (const [key, seen] of missing) {
      seen.missingSince ??= now;
      const defined = seen.resources.some(isDefined);
      if (!defined && now - seen.missingSince >= missingTime) {
        this.#seen.delete(key);
        continue;
      }
      groups.keep(seen.resources, defined);
      kept.push(seen);
    }
    return kept;
  }

  #tell(kept: readonly Seen[]): void {
    const names = new Set(kept.flatMap(({ resources }) => resources.map(({ group }) => group)));
    const groups = [...names].toSorted();
    const text = groups.join();
    if (text === this.#told) return;
    this.#told = text;
    const { logger } = this.#options;
    if (groups.length === 0)
      logger?.info({}, 'the API server serves all kinds again, or they are gone');
    else {
      const shown = { groups: groups.slice(0, namedGroups), count: groups.length };
      logger?.warn(
        shown,
        'the API server does not list kinds that it served: kept until they are gone',
      );
    }
  }
}

function keyOf({ group, kind }: Pick<Resource, 'group' | 'kind'>): string {
  return `${group}/${kind}`;
}

/** Whether the CRD or APIService of a kind still exists. */
type IsDefined = (resource: Resource) => boolean;

/**
 * Reads the names of all CRDs and APIServices. Without permission to read them they count as
 * deleted: then only the minute decides.
 */
async function definedKinds(client: Pick<KubeClient, 'list'>): Promise<IsDefined> {
  const [crds, aggregated] = await Promise.all([
    namesOf(client, definitionResource),
    namesOf(client, apiServiceResource),
  ]);
  return ({ group, version, plural }) =>
    crds.has(`${plural}.${group}`) || aggregated.has(`${version}.${group}`);
}

async function namesOf(
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
): Promise<ReadonlySet<string>> {
  try {
    return await definitionNames(client, resource);
  } catch (error) {
    if (isForbidden(error)) return new Set();
    throw error;
  }
}
