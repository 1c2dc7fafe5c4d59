import { fieldAt, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { Blocked } from '../../contracts/applier.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  apiServiceResource,
  type Discovery,
  definitionResource,
  isKindNotFound,
  type KubeClient,
  listAll,
  liveObject,
  type Resource,
} from '../../platform/kube/index.ts';
import { shortList } from '../../short-list.ts';
import type { HelmReleases } from '../helm-migration/helm-releases.ts';
import type { ApplyFailure } from '../objects/failures.ts';
import type { GroupKind } from '../objects/object-id.ts';
import type { OwnerStates } from '../state/owner-state.ts';
import type { ApplySetParents } from './applyset-parent.ts';
import type { KindWatches } from './kind-watches.ts';

const firstLook = 1_000;
const longestPause = 60_000;
const namedKinds = 5;

/** Where objects of earlier sets are, as far as the API server tells. */
interface FoundKinds {
  readonly resources: readonly Resource[];
  /** Kinds that the cluster has and does not serve now: objects of them may be left. */
  readonly unserved: readonly GroupKind[];
}

interface LostKinds {
  /** The others. */
  readonly failures: readonly ApplyFailure[];
  readonly unserved: readonly GroupKind[];
}

interface EarlierKindsOptions {
  /** Reads CRDs and APIServices. */
  readonly client: Pick<KubeClient, 'list' | 'get'>;
  readonly discovery: Discovery;
  readonly watches: Pick<KindWatches, 'watched' | 'stop'>;
  readonly parents: Pick<ApplySetParents, 'isParent' | 'kinds'>;
  readonly releases: Pick<HelmReleases, 'kinds'>;
  readonly owners: OwnerStates;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Wakes an owner whose kind may be served again. */
  readonly notify: (owner: string) => void;
}

/** Knows of which kinds a deployment may have objects, whatever it wants now. */
export class EarlierKinds {
  readonly #options: EarlierKindsOptions;

  constructor(options: EarlierKindsOptions) {
    this.#options = options;
  }

  /** The kinds that an earlier set of this owner may have left objects of: ours, or RukPak's. */
  async of(owner: BundleDeployment, signal: AbortSignal): Promise<readonly GroupKind[]> {
    const { parents, releases } = this.#options;
    return parents.isParent(owner) ? parents.kinds(owner) : await releases.kinds(owner, signal);
  }

  /**
   * Finds where objects of these kinds are. Of a kind that the cluster no longer has nothing can be
   * left; for one that it has and does not serve now the owner is woken again, after half the time
   * that it has waited, within a minute.
   */
  async find(owner: string, kinds: readonly GroupKind[], signal: AbortSignal): Promise<FoundKinds> {
    const found = await this.#find(kinds, signal);
    if (found.unserved.length === 0) this.#options.owners.of(owner).unservedSince = undefined;
    else this.#lookAgain(owner);
    return found;
  }

  async #find(kinds: readonly GroupKind[], signal: AbortSignal): Promise<FoundKinds> {
    const { client, watches } = this.#options;
    const resources: Resource[] = [];
    const unserved: GroupKind[] = [];
    for (const kind of kinds) {
      const resource = watches.watched(kind) ?? (await this.#served(kind, signal));
      if (resource !== undefined) resources.push(resource);
      else if (await isInstalledKind(kind, client, signal)) unserved.push(kind);
    }
    return { resources, unserved };
  }

  /**
   * Takes out the failures that tell of a kind that is not served: a watch of it may stay open for a
   * while, and discovery is remembered. From now on neither is believed.
   */
  async lost(
    owner: string,
    failures: readonly ApplyFailure[],
    signal: AbortSignal,
  ): Promise<LostKinds> {
    const { discovery, watches } = this.#options;
    const lost = failures.filter(isOfLostKind).map(({ object: { resource } }) => resource);
    if (lost.length > 0) discovery.invalidate();
    for (const resource of lost) watches.stop(resource);
    const kinds = new Map(lost.map((resource) => [kindNames([resource]), resource]));
    const { unserved } = await this.#find([...kinds.values()], signal);
    if (unserved.length > 0) this.#lookAgain(owner);
    return { failures: failures.filter((failure) => !isOfLostKind(failure)), unserved };
  }

  /** Undefined also where nobody can tell: a group's aggregated API server does not answer. */
  async #served({ group, kind }: GroupKind, signal: AbortSignal): Promise<Resource | undefined> {
    try {
      return await this.#options.discovery.resourceForGroupKind(group, kind, signal);
    } catch {
      signal.throwIfAborted();
      return undefined;
    }
  }

  #lookAgain(owner: string): void {
    const { owners, clock, discovery, signal, notify } = this.#options;
    // What is remembered of discovery does not change by itself.
    discovery.invalidate();
    const now = clock.monotonic();
    const state = owners.of(owner);
    const since = state.unservedSince ?? now;
    state.unservedSince = since;
    const pause = Math.min(Math.max(firstLook, (now - since) / 2), longestPause);
    const look = (): void => {
      if (owners.find(owner)?.unservedSince === since) notify(owner);
    };
    clock.sleep(pause, signal).then(look, () => undefined);
  }
}

function isOfLostKind({ error }: ApplyFailure): boolean {
  return isKindNotFound(error);
}

/** Tells of kinds that are not served; undefined where all are. */
export function notServed(kinds: readonly GroupKind[]): Blocked | undefined {
  if (kinds.length === 0) return undefined;
  return {
    reason: progressReason.kindNotServed,
    message:
      `Not served: ${kindNames(kinds)}. Objects of earlier versions may be left. Core prunes them ` +
      'when the API server serves the kind again: repair its CustomResourceDefinition or APIService, or delete it',
  };
}

/** For messages: `Kind.group`, the first of them. */
export function kindNames(kinds: readonly GroupKind[]): string {
  const names = kinds.map(({ group, kind }) => `${kind}${group === '' ? '' : `.${group}`}`);
  return shortList(names, namedKinds);
}

/**
 * Whether the cluster has a kind, served or not: a CustomResourceDefinition of it, or an APIService
 * of its group that another server answers for, which alone knows its kinds.
 */
async function isInstalledKind(
  kind: GroupKind,
  client: Pick<KubeClient, 'list' | 'get'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (kind.group === '') return false;
  return (await isDefined(kind, client, signal)) || (await isAggregated(kind, client, signal));
}

/** Schemas are large, so only CRDs of the group are read whole: their names end with it. */
async function isDefined(
  { group, kind }: GroupKind,
  client: Pick<KubeClient, 'list' | 'get'>,
  signal: AbortSignal,
): Promise<boolean> {
  const options = { metadataOnly: true, signal, transform: nameOf };
  const { items } = await listAll(client, definitionResource, options);
  for (const name of items.filter((item) => item.slice(item.indexOf('.') + 1) === group)) {
    const target = { resource: definitionResource, key: { name } };
    const definition = await liveObject(client, target, signal);
    if (stringAt(definition?.['spec'], 'names', 'kind') === kind) return true;
  }
  return false;
}

function nameOf({ metadata }: KubernetesObject): string {
  return metadata.name ?? '';
}

/** APIServices without a service are the API server's own: it tells all kinds of their groups. */
async function isAggregated(
  { group }: GroupKind,
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<boolean> {
  const transform = ({ spec }: KubernetesObject): boolean =>
    stringAt(spec, 'group') === group && stringAt(fieldAt(spec, 'service'), 'name') !== undefined;
  const { items } = await listAll(client, apiServiceResource, { signal, transform });
  return items.includes(true);
}
