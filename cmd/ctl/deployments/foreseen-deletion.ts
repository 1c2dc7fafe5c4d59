import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import {
  belongsTo,
  type InventoryEntry,
  inKindOrder,
  isDefinition,
  isNamespace,
  lostConversions,
  planRemoval,
} from '../../../core/apply/index.ts';
import type { Cluster } from '../cluster.ts';
import { ownedObjects } from '../objects/owned-objects.ts';
import { type ForeseenPolicy, foreseenPolicy } from './deletion-policy.ts';

/** The objects that a deletion would delete and orphan, as far as they are known before. */
export interface ForeseenDeletion {
  readonly deployment: BundleDeployment;
  readonly deletes: readonly ForeseenObject[];
  readonly keeps: readonly ForeseenObject[];
  /** `Kind.group` of kinds that the user may not list. */
  readonly hidden: readonly string[];
  /** Number of pre-delete and post-delete hooks that core runs, as far as its status says. */
  readonly hooks: number;
}

export interface ForeseenObject {
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** Why it is kept, or what decides that. */
  readonly note?: string;
}

interface DeletionRequest {
  readonly name: string;
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

/**
 * Dry-runs the deletion: webhooks warn of custom resources that are deleted with their CRDs.
 * @throws ApiError, also when there is no such deployment or its deletion is refused.
 */
export async function foreseeDeletion(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  { name, systemNamespace, signal }: DeletionRequest,
): Promise<ForeseenDeletion> {
  const live = await cluster.client.get(bundleDeploymentResource, { name }, signal);
  const deployment = live as BundleDeployment;
  const owned = await ownedObjects(cluster, { owner: deployment, systemNamespace, signal });
  await cluster.client.delete(bundleDeploymentResource, { name }, { dryRun: true, signal });
  const request = { owner: deployment, systemNamespace, signal };
  const inForce = await foreseenPolicy(cluster.client, request);
  const { inventory, hidden } = owned;
  const plan = planRemoval(inventory, { owner: deployment, policy: inForce.policy });
  const { remove, orphan } = plan;
  const lost = await lostConversions(plan, { client: cluster.client, signal });
  const reasonOf = (entry: InventoryEntry): string =>
    `${orphan.get(entry)}${lost.has(entry) ? '; its conversion webhook is deleted' : ''}`;
  const planned = new Set([...remove, ...orphan.keys()].map(({ id }) => id));
  const others = inventory.ownedBy(name).filter(({ id }) => !planned.has(id));
  const isOwn = ({ object }: InventoryEntry): boolean => belongsTo(object, deployment);
  // Objects of hooks are neither in the plan nor kept: they are deleted with the deployment.
  const [hooks, foreign] = [others.filter(isOwn), others.filter((entry) => !isOwn(entry))];
  return {
    deployment,
    deletes: [...inOrder(remove), ...inOrder(hooks)].map((entry) =>
      foreseen(entry, dependsOn(entry, inForce)),
    ),
    keeps: [
      ...inOrder([...orphan.keys()]).map((entry) => foreseen(entry, reasonOf(entry))),
      ...inOrder(foreign).map((entry) =>
        foreseen(entry, 'core did not make it for this deployment'),
      ),
    ],
    hidden,
    hooks: hooksOf(deployment, inForce),
  };
}

/** Core runs none for objects that it orphans. */
function hooksOf({ metadata, status }: BundleDeployment, { policy }: ForeseenPolicy): number {
  if (policy === 'Orphan' || metadata.annotations?.[annotation.skipHooks] === 'true') return 0;
  return status?.hooks?.onDelete ?? 0;
}

function inOrder(entries: readonly InventoryEntry[]): readonly InventoryEntry[] {
  return inKindOrder(entries).flat();
}

function foreseen({ resource, key }: InventoryEntry, note: string | undefined): ForeseenObject {
  const { namespace, name } = key;
  return {
    kind: resource.kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    ...(note === undefined ? {} : { note }),
  };
}

function dependsOn(entry: InventoryEntry, { isCertain }: ForeseenPolicy): string | undefined {
  if (isNamespace(entry.resource)) {
    return 'unless it contains objects of other owners';
  }
  if (!isDefinition(entry.resource)) return undefined;
  return isCertain
    ? 'with its custom resources, unless other BundleDeployments have some'
    : 'with its custom resources, unless core runs with --default-deletion-policy KeepCRDs or Orphan';
}
