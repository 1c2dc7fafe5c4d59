import { stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DeletionPolicy } from '../../../api/v1alpha1/deployment-policies.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { errorMessage } from '../../errors.ts';
import {
  type Discovery,
  definitionResource,
  isNotFound,
  type KubeClient,
  liveObject,
  type Resource,
} from '../../platform/kube/index.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { definedKind } from '../kinds/definitions.ts';
import { isKept } from '../objects/desired.ts';
import { objectPath } from '../objects/object-id.ts';
import { isDefinition } from '../objects/order.ts';
import { listedMetadata } from './listed-metadata.ts';
import type { NamespacePlan } from './namespaces.ts';
import { keptWith, type RemovalPlan } from './prune-plan.ts';

/** What it takes to look at the custom resources of CRDs that a plan would delete. */
interface DefinitionQuery {
  readonly client: Pick<KubeClient, 'list'>;
  readonly discovery: Pick<Discovery, 'resourceForGroupKind'>;
  readonly signal: AbortSignal;
}

const pageSize = 500;

/**
 * The plan, with CRDs orphaned that have a custom resource which is annotated to be kept, anybody's:
 * the API server deletes custom resources with their CRD. A CRD whose custom resources the API
 * server does not list becomes undecided.
 */
export async function orphanDefinitions(
  plan: NamespacePlan,
  query: DefinitionQuery,
): Promise<NamespacePlan> {
  const orphan = new Map(plan.orphan);
  const undecided = new Map(plan.undecided);
  for (const entry of plan.remove.filter(isPresentDefinition)) {
    try {
      const kept = await keptResource(entry, query);
      if (kept !== undefined) orphan.set(entry, keptWith(kept));
    } catch (error) {
      query.signal.throwIfAborted();
      const message = `core cannot tell whether custom resources of ${entry.key.name} are annotated to be kept: ${errorMessage(error)}`;
      undecided.set(entry, new Error(message, { cause: error }));
    }
  }
  return { orphan, undecided, remove: plan.remove.filter((entry) => !orphan.has(entry)) };
}

interface LeftDefinitionQuery {
  readonly owner: BundleDeployment;
  readonly policy: DeletionPolicy;
  readonly client: Pick<KubeClient, 'get'>;
  readonly signal: AbortSignal;
}

/**
 * The plan of a deletion, with policy KeepCRDs also for custom resources whose CRD the deployment had
 * before, and core orphaned.
 */
export async function orphanOfLeftDefinitions(
  plan: RemovalPlan,
  { owner, policy, client, signal }: LeftDefinitionQuery,
): Promise<RemovalPlan> {
  if (policy !== 'KeepCRDs') return plan;
  const left = new Map<string, boolean>();
  for (const { resource } of plan.remove) {
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
    ...plan.remove.filter(isLeft).map((entry) => [entry, because] as const),
  ]);
  return { orphan, remove: plan.remove.filter((entry) => !isLeft(entry)) };
}

function definitionName({ plural, group }: Resource): string {
  return `${plural}.${group}`;
}

/** Names of Kubernetes' own groups have no dot, or end like this. */
function isCustom({ group }: Resource): boolean {
  return group.includes('.') && !group.endsWith('.k8s.io');
}

function isPresentDefinition({ resource, object: { metadata } }: InventoryEntry): boolean {
  return isDefinition(resource) && metadata.deletionTimestamp === undefined;
}

/** Path of a live custom resource of a CRD that is annotated to be kept; lists only metadata. */
async function keptResource(
  definition: Pick<InventoryEntry, 'object'>,
  { client, discovery, signal }: DefinitionQuery,
): Promise<string | undefined> {
  const { group, kind } = definedKind(definition);
  const resource = await discovery.resourceForGroupKind(group, kind, signal);
  if (resource === undefined) return undefined;
  // The CRD may be deleted meanwhile.
  const list = { client, resource, pageSize, isNone: isNotFound, signal };
  for await (const item of listedMetadata(list)) {
    if (!isKept(item) || isGoing(item)) continue;
    const { namespace, name = '' } = item.metadata;
    return objectPath(kind, namespace === undefined ? { name } : { namespace, name });
  }
  return undefined;
}

/** A custom resource that is being deleted cannot be kept. */
function isGoing({ metadata }: KubernetesObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}
