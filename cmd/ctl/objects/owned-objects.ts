import { type GroupVersionKind } from '../../../api/gvk.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import {
  applySetKinds,
  HelmReleases,
  Inventory,
  isApplySetParent,
  RulesByKind,
  slim,
} from '../../../core/apply/index.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import { isForbidden, listAll, type Resource } from '../../../core/platform/kube/index.ts';
import type { Cluster } from '../cluster.ts';
import { mapInOrder } from '../content/map-in-order.ts';
import { silentLogger } from '../output/loggers.ts';

/** The objects of a deployment in the cluster, found in the same way as by core. */
interface OwnedObjects {
  readonly inventory: Inventory;
  /** `Kind.group` of kinds that the user may not list. */
  readonly hidden: readonly string[];
}

interface OwnedObjectsRequest {
  readonly owner: BundleDeployment;
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

type GroupKind = Pick<GroupVersionKind, 'group' | 'kind'>;

const concurrentLists = 4;
const silent = { event: () => undefined };

/** Lists the objects of a deployment, for each kind that its ApplySet or RukPak's release names. */
export async function ownedObjects(
  { client, discovery }: Pick<Cluster, 'client' | 'discovery'>,
  request: OwnedObjectsRequest,
): Promise<OwnedObjects> {
  const { owner, signal } = request;
  const inventory = new Inventory();
  const rules = new RulesByKind(owner.spec.health?.rules ?? []);
  const selector = `${label.ownerKind}=${bundleDeploymentResource.kind},${label.ownerName}=${owner.metadata.name}`;
  const kinds = await kindsOf(client, request);
  const lists = mapInOrder(eachOf(kinds), concurrentLists, async ({ group, kind }) => {
    try {
      const resource = await discovery.resourceForGroupKind(group, kind, signal);
      // A kind that is not served has no objects to list.
      if (resource !== undefined) await list(resource);
      return undefined;
    } catch (error) {
      return { error, name: group === '' ? kind : `${kind}.${group}` };
    }
  });
  const hidden: string[] = [];
  for await (const failure of lists) {
    if (failure === undefined) continue;
    const { error, name } = failure;
    if (!isForbidden(error)) throw error;
    hidden.push(name);
  }
  return { inventory, hidden };

  async function list(resource: Resource): Promise<void> {
    // Only rules read the contents of objects, of which there may be thousands.
    const hasRule = rules.find(resource) !== undefined;
    const transform = (object: Parameters<Inventory['put']>[1]): void => {
      const entry = inventory.put(resource, object);
      if (!hasRule) slim(entry);
    };
    await listAll(client, resource, { labelSelector: selector, transform, signal });
  }
}

async function kindsOf(
  client: Cluster['client'],
  { owner, systemNamespace, signal }: OwnedObjectsRequest,
): Promise<readonly GroupKind[]> {
  if (isApplySetParent(owner)) return applySetKinds(owner);
  const clock = systemClock;
  const options = { client, clock, systemNamespace, events: silent, logger: silentLogger, signal };
  return await new HelmReleases(options).kinds(owner, signal);
}

async function* eachOf<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}
