import { gvkOf } from '../../../api/gvk.ts';
import { stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { keepAnnotation } from '../../../api/v1alpha1/rules/kept-object.ts';
import type { LeftOutObject } from '../../contracts/applier.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { isDataKind } from '../inventory/user-data.ts';
import { definedKind } from '../kinds/definitions.ts';
import { type DesiredObject, primaryResourceKeys } from '../objects/desired.ts';
import { type GroupKind, objectPath } from '../objects/object-id.ts';
import { isDefinition, isNamespace, isWorkload } from '../objects/order.ts';
import { belongsTo, isHookObject } from '../objects/owner-marks.ts';
import { stageOf } from '../stages/stage-order.ts';

/** What happens to objects that a deployment no longer wants. */
export interface RemovalPlan {
  /** Objects to orphan, with the reason for messages. */
  readonly orphan: ReadonlyMap<InventoryEntry, string>;
  readonly remove: readonly InventoryEntry[];
}

/** A plan after a look into the namespaces and CRDs that it would delete. */
export interface CheckedPlan extends RemovalPlan {
  /**
   * Namespaces and CRDs of `remove` whose content the API server does not list now: core deletes
   * them later.
   */
  readonly undecided: ReadonlyMap<InventoryEntry, Error>;
}

/** The desired objects of a deployment. */
export interface Wanted {
  readonly ids: ReadonlySet<string>;
  readonly objects: readonly Pick<DesiredObject, 'key' | 'resource'>[];
  /** Desired kinds that the cluster does not seem to serve. */
  readonly omitted: readonly GroupKind[];
  /** Objects that the class has left out, with the namespace that they would have. */
  readonly leftOut?: readonly LeftOutObject[];
}

interface RemovalRequest {
  readonly owner: BundleDeployment;
  readonly policy: DeletionPolicy;
  /** Undefined when the deployment is being deleted, with all its objects. */
  readonly wanted?: Wanted;
}

/**
 * Applies the deletion policy, both when the deployment is deleted and when its bundle has dropped
 * objects. Plans only objects that core made for exactly this deployment, each once, although it
 * may be watched in two versions. Never prunes or orphans an object of a hook, which may be running,
 * before the deletion, and then leaves it to the garbage collector, unless it may hold data, or the
 * policy or an annotation keeps it.
 */
export function planRemoval(
  inventory: Inventory,
  { owner, policy, wanted }: RemovalRequest,
): RemovalPlan {
  const entries = unwanted(objectsOf(inventory, owner), wanted);
  const byPolicy = keptByPolicy(entries, policy);
  const orphan = new Map<InventoryEntry, string>();
  const remove: InventoryEntry[] = [];
  // The deletion of a deployment waits for objects that are being deleted; an upgrade does not.
  for (const entry of wanted === undefined ? entries : entries.filter(isPrunable)) {
    const because = byPolicy.has(entry)
      ? `the deletion policy is ${policy}`
      : reasonToStay(entry, wanted);
    if (because !== undefined) orphan.set(entry, because);
    else if (!isHookObject(entry.object) || isOwnDeletion(entry)) remove.push(entry);
  }
  return withKeptDefinitions({ orphan, remove }, wanted);
}

/**
 * The API server deletes all custom resources with their CRD, so the CRD of an object that stays
 * must stay as well.
 */
function withKeptDefinitions(plan: RemovalPlan, wanted: Wanted | undefined): RemovalPlan {
  const definitions = plan.remove.filter(({ resource }) => isDefinition(resource));
  if (definitions.length === 0) return plan;
  const orphan = new Map(plan.orphan);
  const needed = [
    ...(wanted?.omitted ?? []),
    ...(wanted?.objects ?? []).map(({ resource }) => resource),
  ];
  const neededKinds = new Set(needed.map(kindName));
  for (const entry of definitions) {
    const kind = kindName(definedKind(entry));
    const isOfKind = ({ resource }: Pick<InventoryEntry, 'resource'>): boolean =>
      kindName(resource) === kind;
    const kept = [...plan.orphan.keys()].filter(isPresent).find(isOfKind);
    if (kept !== undefined) orphan.set(entry, keptWith(objectPath(kept.resource.kind, kept.key)));
    else if (neededKinds.has(kind)) orphan.set(entry, 'objects of the bundle are of its kind');
  }
  return { orphan, remove: plan.remove.filter((entry) => !orphan.has(entry)) };
}

/** Why a CRD stays; `object` is the path of a custom resource that stays. */
export function keptWith(object: string, because = 'is kept'): string {
  return `${object} ${because}, and the API server would delete it with its CRD`;
}

function unwanted(
  entries: readonly InventoryEntry[],
  wanted: Wanted | undefined,
): readonly InventoryEntry[] {
  if (wanted === undefined) return entries;
  const omitted = new Set(wanted.omitted.map(kindName));
  return entries.filter(
    ({ id, resource }) => !wanted.ids.has(id) && !omitted.has(kindName(resource)),
  );
}

function keptByPolicy(
  entries: readonly InventoryEntry[],
  policy: DeletionPolicy,
): ReadonlySet<InventoryEntry> {
  if (policy === 'Orphan') return new Set(entries);
  return policy === 'KeepCRDs' ? ofDefinitions(entries) : new Set();
}

function reasonToStay(entry: InventoryEntry, wanted: Wanted | undefined): string | undefined {
  const { resource, key, object } = entry;
  if (isKeptByBundle(object)) return undefined;
  const keeping = keepAnnotation(object.metadata.annotations);
  if (keeping !== undefined) return `it has annotation ${keeping}`;
  // A class may only guess that an object is not meant to be installed.
  const leftOut = wanted?.leftOut?.find((each) => isOf(entry, each));
  if (leftOut !== undefined) return `its class leaves it out: ${leftOut.because}`;
  const isInhabited =
    isNamespace(resource) &&
    wanted?.objects.some(({ key: { namespace } }) => namespace === key.name) === true;
  return isInhabited ? 'objects of the bundle are in it' : undefined;
}

/**
 * The object of a hook that its bundle keeps: without an ownerReference the garbage collector leaves
 * it as it is, and the next run replaces it.
 */
function isKeptByBundle(object: KubernetesObject): boolean {
  const { annotations } = object.metadata;
  return isHookObject(object) && stringAt(annotations, primaryResourceKeys[0]) !== undefined;
}

/** The garbage collector would ask nobody who has something in it. */
function isOwnDeletion({ resource, object }: InventoryEntry): boolean {
  return isDataKind(resource) && !isKeptByBundle(object);
}

function isOf({ resource, key }: InventoryEntry, leftOut: LeftOutObject): boolean {
  if (key.namespace !== undefined && key.namespace !== leftOut.namespace) return false;
  return key.name === leftOut.name && kindName(resource) === kindName(gvkOf(leftOut));
}

function isPresent({ deleted, object }: InventoryEntry): boolean {
  return !deleted && object.metadata.deletionTimestamp === undefined;
}

/** A CRD that nobody has deleted. */
export function isPresentDefinition({ resource, object: { metadata } }: InventoryEntry): boolean {
  return isDefinition(resource) && metadata.deletionTimestamp === undefined;
}

function isPrunable(entry: InventoryEntry): boolean {
  return isPresent(entry) && !isHookObject(entry.object);
}

/** Live objects of the deployment's hooks, also of hooks that its bundle no longer has. */
export function hookObjects(
  inventory: Inventory,
  owner: BundleDeployment,
): readonly InventoryEntry[] {
  return objectsOf(inventory, owner).filter(
    (entry) => isPresent(entry) && isHookObject(entry.object),
  );
}

function objectsOf(inventory: Inventory, owner: BundleDeployment): readonly InventoryEntry[] {
  const entries = inventory
    .ownedBy(owner.metadata.name ?? '')
    .filter(({ object }) => belongsTo(object, owner));
  return [...new Map(entries.map((entry) => [entry.id, entry])).values()];
}

/** @throws Error about the first undecided one of these. */
export function throwUndecided(
  { undecided }: Pick<CheckedPlan, 'undecided'>,
  entries: readonly InventoryEntry[],
): void {
  for (const entry of entries) {
    const error = undecided.get(entry);
    if (error !== undefined) throw error;
  }
}

/**
 * Objects by stage of their deletion, the last stage first. CRDs go before workloads: the API
 * server first deletes their custom resources, and refuses new ones, while the operator still runs
 * and can remove its finalizers. Namespaces go after the other objects of their stage, because a
 * deletion may be refused.
 */
export function removalStages(entries: readonly InventoryEntry[]): readonly InventoryEntry[][] {
  const workloads = entries.filter(({ resource }) => isWorkload(resource.kind)).map(stageOf);
  const beforeWorkloads = Math.max(...workloads) + 0.5;
  const stage = (entry: InventoryEntry): number => {
    if (isNamespace(entry.resource)) return stageOf(entry) - 0.25;
    return workloads.length > 0 && isDefinition(entry.resource) ? beforeWorkloads : stageOf(entry);
  };
  return [...Map.groupBy(entries, stage)].toSorted(([a], [b]) => b - a).map(([, group]) => group);
}

/** The CRDs of these objects, and their custom resources. */
function ofDefinitions(entries: readonly InventoryEntry[]): ReadonlySet<InventoryEntry> {
  const definitions = entries.filter(({ resource }) => isDefinition(resource));
  const kinds = new Set(definitions.map((entry) => kindName(definedKind(entry))));
  const resources = entries.filter(({ resource }) => kinds.has(kindName(resource)));
  return new Set([...definitions, ...resources]);
}

function kindName({ group, kind }: GroupKind): string {
  return `${kind}.${group}`;
}
