import { mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import { type KubeClient, liveObject } from '../../platform/kube/index.ts';
import { shortList } from '../../short-list.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { isNamespace } from '../objects/order.ts';
import { belongsTo } from '../objects/owner-marks.ts';
import type { OwnerState, SharedNamespace } from '../state/owner-state.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import { consentedOwnership, DeploymentConsent } from './consent.ts';

/** Namespaces of a set that exist and do not belong to its owner, with their live state. */
export type UsedNamespaces = ReadonlyMap<DesiredObject, KubernetesObject>;

const concurrentReads = 8;
const listedNames = 10;

interface SharedNamespacesOptions {
  /** Reads namespaces, and deployments of all classes. */
  readonly client: Pick<KubeClient, 'get'>;
  readonly systemNamespace: string;
  readonly inventory: Pick<Inventory, 'get'>;
  readonly owners: OwnerStates;
  readonly events: EventSink;
}

interface NamespaceUser {
  readonly owner: BundleDeployment;
  readonly set: { readonly objects: readonly DesiredObject[] };
  readonly signal: AbortSignal;
}

/**
 * Namespaces that belong to one deployment, or to none, and that other bundles contain too. The
 * last of these deployments to be deleted also deletes a namespace that core made. The process
 * forgets this when it ends: a namespace with content stays in any case.
 */
export class SharedNamespaces {
  readonly #options: SharedNamespacesOptions;

  constructor(options: SharedNamespacesOptions) {
    this.#options = options;
  }

  /**
   * The namespaces of the set that existed before, or that another deployment has: the owner puts
   * objects into them and leaves them unchanged. Takes one request for each namespace not known as
   * the owner's.
   */
  async find({ owner, set, signal }: NamespaceUser): Promise<UsedNamespaces> {
    const { client, systemNamespace, inventory, owners } = this.#options;
    const consent = new DeploymentConsent({ client, owners, signal });
    const isOwn = ({ resource, key }: DesiredObject): boolean => {
      const entry = inventory.get(resource, key);
      return entry !== undefined && belongsTo(entry.object, owner);
    };
    const asked = set.objects.filter((object) => isNamespace(object.resource) && !isOwn(object));
    const used = new Map<DesiredObject, KubernetesObject>();
    await forEachLimit(asked, concurrentReads, async (desired) => {
      const live = await liveObject(client, desired, signal);
      if (live === undefined) return;
      const subject = { owner, id: desired.id, live };
      const { verdict } = await consentedOwnership(subject, systemNamespace, consent);
      if (verdict === 'used') used.set(desired, live);
    });
    return used;
  }

  /** Remembers which deployments use a namespace, and reports each use once. */
  note(owner: BundleDeployment, used: UsedNamespaces): void {
    const state = this.#options.owners.of(owner.metadata.name ?? '');
    for (const desired of useNamespaces(state, [...used.keys()])) {
      const lacking = lackingMarks(desired, used.get(desired));
      const lack =
        lacking.length === 0
          ? ''
          : `. It lacks labels and annotations of the bundle: ${shortList(lacking, listedNames)}. Add them yourself if they are needed`;
      this.#options.events.event(owner, {
        type: lacking.length === 0 ? 'Normal' : 'Warning',
        reason: 'NamespaceUsed',
        message:
          `Namespace "${desired.key.name}" exists and does not belong to this BundleDeployment: ` +
          `core uses it, and neither changes nor deletes it${lack}`,
      });
    }
  }
}

/** Replaces the namespaces that the owner uses; returns those that it did not use before. */
export function useNamespaces<T extends SharedNamespace>(
  state: OwnerState,
  namespaces: readonly T[],
): readonly T[] {
  const before = state.namespaces;
  state.isEnding = false;
  state.namespaces = byID(namespaces);
  return namespaces.filter(({ id }) => !before.has(id));
}

/** The owner is being deleted: core keeps no namespace for it; `own` were its own ones. */
export function endNamespaces(state: OwnerState, own: readonly SharedNamespace[]): void {
  state.isEnding = true;
  state.namespaces = new Map([...state.namespaces, ...byID(own)]);
}

/** Other deployments that still use a namespace. */
export function otherUsers(owners: OwnerStates, owner: string, id: string): readonly string[] {
  return [...owners]
    .filter(({ name, isEnding, namespaces }) => name !== owner && !isEnding && namespaces.has(id))
    .map(({ name }) => name);
}

function byID(namespaces: readonly SharedNamespace[]): ReadonlyMap<string, SharedNamespace> {
  return new Map(namespaces.map(({ id, resource, key }) => [id, { id, resource, key }]));
}

/** Labels and annotations of the bundle that the namespace lacks or has with other values. */
function lackingMarks(desired: DesiredObject, live: KubernetesObject | undefined): string[] {
  return (['labels', 'annotations'] as const).flatMap((field) => {
    const present = mapOf(live?.metadata[field]);
    return Object.entries(desired.object.metadata[field] ?? {}).flatMap(([key, value]) =>
      isOwnMark(key) || present[key] === value ? [] : [`${key}=${value}`],
    );
  });
}

function isOwnMark(key: string): boolean {
  return /^(core\.rukpak\.io|applyset\.kubernetes\.io|operator-sdk)\//.test(key);
}
