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
  liveObject,
  type Resource,
} from '../../platform/kube/index.ts';
import { shortList } from '../../short-list.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { isKept } from '../objects/desired.ts';
import { objectPath } from '../objects/object-id.ts';
import { isDefinition } from '../objects/order.ts';
import { labelledOwner } from '../objects/owner-marks.ts';
import { DeploymentConsent } from '../ownership/consent.ts';
import { listedMetadata } from './listed-metadata.ts';
import { type CheckedPlan, keptWith, type RemovalPlan } from './prune-plan.ts';

/** What it takes to look at the custom resources of CRDs that a plan would delete. */
interface DefinitionQuery {
  /** Name of the deployment that the plan is of. */
  readonly owner: string;
  readonly client: Pick<KubeClient, 'get' | 'list'>;
  readonly signal: AbortSignal;
}

const pageSize = 500;
const namedVersions = 5;

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
  const deployments = new DeploymentConsent(query);
  for (const entry of plan.remove.filter(isPresentDefinition)) {
    try {
      const because = await reasonToStay(entry, { ...query, deployments });
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

/**
 * CRDs of the plan that stay while the Service of their conversion webhook goes, each with a
 * sentence. Core does not change such a CRD: with strategy None the next write in another version
 * would lose fields.
 */
export async function lostConversions(
  { orphan, remove }: RemovalPlan,
  { client, signal }: { readonly client: Pick<KubeClient, 'get'>; readonly signal: AbortSignal },
): Promise<ReadonlyMap<InventoryEntry, string>> {
  const services = new Set(remove.filter(isService).map(({ key }) => objectPath('Service', key)));
  const lost = new Map<InventoryEntry, string>();
  if (services.size === 0) return lost;
  for (const entry of [...orphan.keys()].filter(isPresentDefinition)) {
    const target = { resource: definitionResource, key: entry.key };
    const definition = await liveObject(client, target, signal);
    if (definition === undefined) continue;
    const service = converterOf(definition);
    const { stored, others } = versionsOf(definition);
    if (service === undefined || !services.has(service) || others.length === 0) continue;
    lost.set(
      entry,
      `${objectPath(entry.resource.kind, entry.key)} stays, and core deletes ${service} of its conversion webhook: ` +
        `the API server refuses requests that convert custom resources between the stored version ${stored} and ${shortList(others, namedVersions)}, and cannot delete Namespaces whose custom resources it must convert. ` +
        'Install the operator again, or set strategy None in spec.conversion of the CRD: a write in another version then loses the fields that this version lacks',
    );
  }
  return lost;
}

function isService({ resource: { group, kind } }: InventoryEntry): boolean {
  return group === '' && kind === 'Service';
}

/** Path of the Service that converts custom resources; undefined without one. */
function converterOf({ spec }: KubernetesObject): string | undefined {
  const conversion = fieldAt(spec, 'conversion');
  const service = fieldAt(conversion, 'webhook', 'clientConfig', 'service');
  const [namespace, name] = [stringAt(service, 'namespace'), stringAt(service, 'name')];
  if (stringAt(conversion, 'strategy') !== 'Webhook' || name === undefined) return undefined;
  return objectPath('Service', { ...(namespace && { namespace }), name });
}

/** The version in which custom resources are written, and others that they are read or stored in. */
function versionsOf({ spec, status }: KubernetesObject): {
  readonly stored: string;
  readonly others: readonly string[];
} {
  const versions = listOf(fieldAt(spec, 'versions'));
  const namesOf = (field: string): readonly string[] =>
    versions
      .filter((each) => fieldAt(each, field) === true)
      .flatMap((each) => stringAt(each, 'name') ?? []);
  const [stored = ''] = namesOf('storage');
  const former = listOf(fieldAt(status, 'storedVersions')).filter(
    (each) => typeof each === 'string',
  );
  const all = new Set([...namesOf('served'), ...former]);
  return { stored, others: [...all].filter((name) => name !== stored) };
}

function definitionName({ plural, group }: Resource): string {
  return `${plural}.${group}`;
}

/** The group of a CRD has a dot; so have groups of Kubernetes itself, which have no CRD. */
function isCustom({ group }: Resource): boolean {
  return group.includes('.');
}

function isPresentDefinition({ resource, object: { metadata } }: InventoryEntry): boolean {
  return isDefinition(resource) && metadata.deletionTimestamp === undefined;
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
  readonly deployments: DeploymentConsent;
}

/** Why a custom resource must stay. One that is being deleted cannot. */
async function whyItStays(
  item: KubernetesObject,
  { owner, deployments }: ResourceQuery,
): Promise<string | undefined> {
  if (item.metadata.deletionTimestamp !== undefined) return undefined;
  if (isKept(item)) return 'is kept';
  const other = labelledOwner(item) ?? owner;
  if (other === owner || (await deployments.isGone(other))) return undefined;
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
