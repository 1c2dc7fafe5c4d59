import { fieldAt, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import type { Blocked } from '../../contracts/applier.ts';
import { errorMessage } from '../../errors.ts';
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
  unlessNotFound,
} from '../../platform/kube/index.ts';
import { shortList } from '../../short-list.ts';
import type { HelmReleases } from '../helm-migration/helm-releases.ts';
import type { ApplyFailure } from '../objects/failures.ts';
import type { GroupKind } from '../objects/object-id.ts';
import { parseGroupKinds } from '../objects/owner-marks.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import type { ApplySetParents } from './applyset-parent.ts';
import type { KindWatches } from './kind-watches.ts';

const firstLook = 1_000;
const longestPause = 60_000;
const namedKinds = 5;

/** The kinds of earlier sets, as the API server serves them. */
interface FoundKinds {
  readonly resources: readonly Resource[];
  /** Kinds that are installed but not served now: objects of them may exist. */
  readonly unserved: readonly GroupKind[];
}

interface LostKinds {
  /** Failures for other reasons. */
  readonly failures: readonly ApplyFailure[];
  /** Kinds of which objects may be left. */
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
  /** Wakes an owner when its kind may be served again. */
  readonly notify: (owner: string) => void;
}

/** Finds the kinds of which a deployment may have objects, independent of its present content. */
export class EarlierKinds {
  readonly #options: EarlierKindsOptions;

  constructor(options: EarlierKindsOptions) {
    this.#options = options;
  }

  /**
   * The kinds of which an earlier set of this owner, applied by core or by RukPak, may have left
   * objects. `kubectl replace` removes the ApplySet marks, and leaves the status.
   */
  async of(owner: BundleDeployment, signal: AbortSignal): Promise<readonly GroupKind[]> {
    const { parents, releases } = this.#options;
    const marked = parents.isParent(owner)
      ? parents.kinds(owner)
      : await releases.kinds(owner, signal);
    const noted = parseGroupKinds(owner.status?.groupKinds?.join());
    return [...new Map([...marked, ...noted].map((kind) => [kindNames([kind]), kind])).values()];
  }

  /** Whether neither the ApplySet marks nor the status of a deployment have its kinds. */
  areLost(owner: BundleDeployment): boolean {
    return owner.status?.groupKinds === undefined && !this.#options.parents.isParent(owner);
  }

  /**
   * Looks these kinds up. A kind that the cluster no longer has cannot have objects. For a kind
   * that is installed but not served, core wakes the owner again after half the time it has waited,
   * at most a minute.
   */
  async find(owner: string, kinds: readonly GroupKind[], signal: AbortSignal): Promise<FoundKinds> {
    const found = await this.#find(kinds, signal);
    if (found.unserved.length === 0) this.#options.owners.of(owner).unservedSince = undefined;
    else this.#lookAgain(owner);
    return found;
  }

  async #find(kinds: readonly GroupKind[], signal: AbortSignal): Promise<FoundKinds> {
    const { watches } = this.#options;
    const resources: Resource[] = [];
    const unserved: GroupKind[] = [];
    for (const kind of kinds) {
      const found = watches.watched(kind) ?? (await this.#lookUp(kind, signal));
      if (found === 'unserved') unserved.push(kind);
      else if (found !== undefined) resources.push(found);
    }
    return { resources, unserved };
  }

  /** A watch may stay open for a while and discovery is cached: core looks for lost kinds again. */
  distrust(lost: readonly Resource[]): void {
    const { discovery, watches } = this.#options;
    if (lost.length > 0) discovery.invalidate();
    for (const resource of lost) watches.stop(resource);
  }

  /** Takes out the failures about kinds that are not served, and looks for these kinds again. */
  async lost(
    owner: string,
    failures: readonly ApplyFailure[],
    signal: AbortSignal,
  ): Promise<LostKinds> {
    const lost = failures.filter(isOfLostKind).map(({ object: { resource } }) => resource);
    this.distrust(lost);
    const kinds = new Map(lost.map((resource) => [kindNames([resource]), resource]));
    const { resources, unserved } = await this.#find([...kinds.values()], signal);
    // Their objects are found in another version, or again, at the next look.
    const served = resources.map(({ group, kind }) => ({ group, kind }));
    const left = [...unserved, ...served];
    if (left.length > 0) this.#lookAgain(owner);
    return { failures: failures.filter((failure) => !isOfLostKind(failure)), unserved: left };
  }

  /**
   * Undefined only when the cluster certainly lacks the kind.
   * @throws Error when discovery fails, and no CRD or APIService tells that the kind is installed.
   */
  async #lookUp(kind: GroupKind, signal: AbortSignal): Promise<Resource | 'unserved' | undefined> {
    const { client, discovery } = this.#options;
    try {
      const served = await discovery.resourceForGroupKind(kind.group, kind.kind, signal);
      if (served !== undefined) return served;
    } catch (error) {
      signal.throwIfAborted();
      // The group's aggregated API server may not respond.
      if (await isInstalledKind(kind, client, signal)) return 'unserved';
      // Core retries, and must not read the same answer again.
      discovery.invalidate();
      const message = `cannot look for objects of kind ${kindNames([kind])}: ${errorMessage(error)}`;
      throw new Error(message, { cause: error });
    }
    return (await isInstalledKind(kind, client, signal)) ? 'unserved' : undefined;
  }

  #lookAgain(owner: string): void {
    const { owners, clock, discovery, signal, notify } = this.#options;
    // Cached discovery does not change by itself.
    discovery.invalidate();
    const now = clock.monotonic();
    const state = owners.of(owner);
    const since = state.unservedSince ?? now;
    state.unservedSince = since;
    // Each look brings the next one: with several due, they would multiply.
    if (state.nextLookSince === since) return;
    state.nextLookSince = since;
    const pause = Math.min(Math.max(firstLook, (now - since) / 2), longestPause);
    const look = (): void => {
      if (state.nextLookSince === since) state.nextLookSince = undefined;
      if (owners.find(owner)?.unservedSince === since) notify(owner);
    };
    clock.sleep(pause, signal).then(look, () => undefined);
  }
}

function isOfLostKind({ error }: ApplyFailure): boolean {
  return isKindNotFound(error);
}

/** The condition about kinds that are not served; undefined when all are. */
export function notServed(kinds: readonly GroupKind[]): Blocked | undefined {
  if (kinds.length === 0) return undefined;
  return {
    reason: progressReason.kindNotServed,
    message:
      `Not served: ${kindNames(kinds)}. Objects of earlier versions may still exist. Core prunes them ` +
      'when the API server serves the kind again: repair its CustomResourceDefinition or APIService, or delete it',
  };
}

/** For messages: `Kind.group` of the first kinds. */
export function kindNames(kinds: readonly GroupKind[]): string {
  const names = kinds.map(({ group, kind }) => `${kind}${group === '' ? '' : `.${group}`}`);
  return shortList(names, namedKinds);
}

/**
 * Whether a kind is installed, served or not: by a CustomResourceDefinition, or by an APIService of
 * its group with another server behind it. Only that server knows its kinds.
 */
async function isInstalledKind(
  kind: GroupKind,
  client: Pick<KubeClient, 'list' | 'get'>,
  signal: AbortSignal,
): Promise<boolean> {
  if (kind.group === '') return false;
  return (await isDefined(kind, client, signal)) || (await isAggregated(kind, client, signal));
}

/** Schemas are large, so core reads only CRDs of the group, whose names end with it. */
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

/**
 * APIServices without a service belong to the API server itself, which lists all kinds of their
 * groups. An API server without aggregation has none.
 */
async function isAggregated(
  { group }: GroupKind,
  client: Pick<KubeClient, 'list'>,
  signal: AbortSignal,
): Promise<boolean> {
  const transform = ({ spec }: KubernetesObject): boolean =>
    stringAt(spec, 'group') === group && stringAt(fieldAt(spec, 'service'), 'name') !== undefined;
  const services = await unlessNotFound(listAll(client, apiServiceResource, { signal, transform }));
  return services?.items.includes(true) === true;
}
