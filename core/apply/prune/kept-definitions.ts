import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { errorMessage } from '../../errors.ts';
import {
  definitionResource,
  isEstablished,
  type KubeClient,
  listedMetadata,
  liveObject,
  type Resource,
} from '../../platform/kube/index.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { isKept } from '../objects/desired.ts';
import { objectPath } from '../objects/object-id.ts';
import { isDefinition } from '../objects/order.ts';
import { labelledOwner } from '../objects/owner-marks.ts';
import { DeploymentConsent } from '../ownership/consent.ts';
import { type CheckedPlan, isPresentDefinition, keptWith, type RemovalPlan } from './prune-plan.ts';

/** What it takes to look at the custom resources of CRDs that a plan would delete. */
export interface DefinitionQuery {
  /** Name of the deployment that the plan is of. */
  readonly owner: string;
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  /**
   * Waits once before a CRD stays for another deployment, which somebody may be about to delete, too
   * (default: does not wait).
   */
  readonly patience?: () => Promise<void>;
  readonly signal: AbortSignal;
}

const pageSize = 500;

/**
 * The plan, with CRDs orphaned that have a custom resource which must stay, or may have one: the API
 * server deletes custom resources with their CRD. A CRD whose custom resources the API server does
 * not list now becomes undecided.
 */
export async function orphanDefinitions(
  plan: CheckedPlan,
  query: DefinitionQuery,
): Promise<CheckedPlan> {
  const orphan = new Map(plan.orphan);
  const undecided = new Map(plan.undecided);
  const isGone = goneDeployments(query);
  for (const entry of plan.remove.filter(isPresentDefinition)) {
    try {
      const because = await reasonToStay(entry, { ...query, isGone });
      if (because !== undefined) orphan.set(entry, because);
    } catch (error) {
      query.signal.throwIfAborted();
      const message = `core cannot tell whether custom resources of ${entry.key.name} must be kept: ${errorMessage(error)}. Repair the CRD, or delete it`;
      undecided.set(entry, new Error(message, { cause: error }));
    }
  }
  return { orphan, undecided, remove: plan.remove.filter((entry) => !orphan.has(entry)) };
}

interface LeftDefinitionQuery {
  readonly owner: BundleDeployment;
  readonly policy: DeletionPolicy;
  readonly client: Pick<KubeClient, 'get'>;
  /**
   * Objects of hooks: the garbage collector deletes those that the plan does not orphan (default:
   * it deletes none).
   */
  readonly hooks?: readonly InventoryEntry[];
  /** Objects of the bundle: its CRDs are the deployment's (default: none). */
  readonly wanted?: readonly Pick<InventoryEntry, 'resource' | 'key'>[];
  readonly signal: AbortSignal;
}

/**
 * The plan, with policy KeepCRDs also for custom resources whose CRD the deployment had before, and
 * core orphaned: in an earlier version, or just now, before something failed.
 */
export async function orphanOfLeftDefinitions(
  plan: RemovalPlan,
  { owner, policy, client, hooks = [], wanted = [], signal }: LeftDefinitionQuery,
): Promise<RemovalPlan> {
  if (policy !== 'KeepCRDs') return plan;
  const own = wanted.filter(({ resource }) => isDefinition(resource)).map(({ key }) => key.name);
  const left = new Map<string, boolean>(own.map((name) => [name, false]));
  const going = [...plan.remove, ...hooks];
  for (const { resource } of going) {
    const name = definitionName(resource);
    if (left.has(name) || !isCustom(resource)) continue;
    const target = { resource: definitionResource, key: { name } };
    const definition = await liveObject(client, target, signal);
    const by = stringAt(definition?.metadata.annotations, annotation.leftBy);
    left.set(name, by === owner.metadata.name);
  }
  const isLeft = ({ resource }: InventoryEntry): boolean =>
    left.get(definitionName(resource)) === true;
  const because = `the deletion policy is ${policy}`;
  const orphan = new Map([
    ...plan.orphan,
    ...going.filter(isLeft).map((entry) => [entry, because] as const),
  ]);
  return { orphan, remove: plan.remove.filter((entry) => !isLeft(entry)) };
}

function definitionName({ plural, group }: Resource): string {
  return `${plural}.${group}`;
}

/** The group of a CRD has a dot; so have groups of Kubernetes itself, which have no CRD. */
function isCustom({ group }: Resource): boolean {
  return group.includes('.');
}

const unseen =
  'the API server serves no version of it, so core cannot see whether its custom resources must be kept';

/**
 * Why a CRD must stay. Reads the CRD itself: discovery may be older than the CRD, or than its
 * present versions, and then seems to prove that there are no custom resources.
 * @throws Error when the API server does not list the custom resources.
 */
async function reasonToStay(
  { key }: Pick<InventoryEntry, 'key'>,
  query: ResourceQuery,
): Promise<string | undefined> {
  const { client, signal } = query;
  const definition = await liveObject(client, { resource: definitionResource, key }, signal);
  // Before it establishes a CRD, the API server accepts no custom resources.
  if (definition === undefined || !isEstablished(definition)) return undefined;
  const resource = servedResource(definition);
  if (resource === undefined) return unseen;
  for await (const item of listedMetadata({ client, resource, pageSize, signal })) {
    const because = await whyItStays(item, query);
    if (because === undefined) continue;
    const { namespace, name = '' } = item.metadata;
    return keptWith(objectPath(resource.kind, { ...(namespace && { namespace }), name }), because);
  }
  return undefined;
}

interface ResourceQuery extends DefinitionQuery {
  /** Whether a deployment does not exist, or is being deleted. */
  readonly isGone: (name: string) => Promise<boolean>;
}

/** Reads each deployment once, and those that are there once more after the wait. */
function goneDeployments(query: DefinitionQuery): ResourceQuery['isGone'] {
  let { patience } = query;
  let deployments = new DeploymentConsent(query);
  return async (name) => {
    const isGone = await deployments.isGone(name);
    if (isGone || patience === undefined) return isGone;
    await patience();
    patience = undefined;
    deployments = new DeploymentConsent(query);
    return await deployments.isGone(name);
  };
}

/** Why a custom resource must stay. One that is being deleted cannot. */
async function whyItStays(
  item: KubernetesObject,
  { owner, isGone }: ResourceQuery,
): Promise<string | undefined> {
  if (item.metadata.deletionTimestamp !== undefined) return undefined;
  if (isKept(item)) return 'is kept';
  const other = labelledOwner(item) ?? owner;
  if (other === owner || (await isGone(other))) return undefined;
  return `is of BundleDeployment "${other}"`;
}

/**
 * The served version of a CRD, preferably the one in which its objects are stored: that needs no
 * conversion webhook, which may be gone with its operator.
 */
function servedResource({ spec }: KubernetesObject): Resource | undefined {
  const served = listOf(fieldAt(spec, 'versions')).filter(
    (each) => fieldAt(each, 'served') === true,
  );
  const version = served.find((each) => fieldAt(each, 'storage') === true) ?? served[0];
  if (version === undefined) return undefined;
  return {
    group: stringAt(spec, 'group') ?? '',
    version: stringAt(version, 'name') ?? '',
    kind: stringAt(spec, 'names', 'kind') ?? '',
    plural: stringAt(spec, 'names', 'plural') ?? '',
    namespaced: stringAt(spec, 'scope') === 'Namespaced',
  };
}
