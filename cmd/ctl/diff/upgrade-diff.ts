import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { DesiredObject } from '../../../core/apply/desired.ts';
import { type DesiredSet, desiredSet } from '../../../core/apply/desired-set.ts';
import { objectPath } from '../../../core/apply/object-id.ts';
import { inKindOrder } from '../../../core/apply/order.ts';
import { superfluous } from '../../../core/apply/prune.ts';
import { apiVersionOf, type ObjectKey, type Resource } from '../../../core/kube/resource.ts';
import type { Cluster } from '../cluster.ts';
import { liveObject } from '../live-object.ts';
import { mapInOrder } from '../map-in-order.ts';
import { ownedObjects } from '../owned-objects.ts';
import { ObjectForecast } from './object-forecast.ts';
import { shownObject } from './shown-object.ts';
import { unifiedDiff } from './unified-diff.ts';

export interface UpgradeRequest {
  readonly owner: BundleDeployment;
  readonly objects: readonly KubernetesObject[];
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

/** What would become of one object. */
export interface ObjectChange {
  readonly action: 'create' | 'change' | 'prune';
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** Unified diff of YAML; values of Secrets are masked. */
  readonly diff: string;
}

export interface UpgradeDiff {
  readonly changes: readonly ObjectChange[];
  readonly unchanged: number;
  /** Why the core would refuse the upgrade, or what cannot be told. */
  readonly problems: readonly string[];
  /** What the core would leave out of objects. */
  readonly warnings: readonly string[];
}

const concurrentRequests = 8;

/**
 * What an upgrade of a deployment to these objects would change, asked of the API server by dry
 * runs: nothing is written.
 * @throws TerminalError where the core would refuse all of it; ApiError.
 */
export async function upgradeDiff(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  request: UpgradeRequest,
): Promise<UpgradeDiff> {
  const { client, discovery } = cluster;
  const { owner, signal } = request;
  const set = await desiredSet({ ...request, operation: 'upgrade', discovery });
  const [changes, problems]: [ObjectChange[], string[]] = [[], []];
  const forecast = new ObjectForecast({ ...request, client, set });
  let unchanged = 0;
  for await (const outcome of mapInOrder(inOrder(set), concurrentRequests, (desired) =>
    forecast.of(desired),
  )) {
    if ('problem' in outcome) problems.push(outcome.problem);
    else {
      const change = changeOf(outcome.desired, outcome);
      if (change === undefined) unchanged += 1;
      else changes.push(change);
    }
  }
  const { inventory, hidden } = await ownedObjects(cluster, request);
  for (const kind of hidden) {
    problems.push(`you may not list ${kind}: objects of it that would be pruned are not shown`);
  }
  const gone = superfluous(inventory, owner.metadata.name ?? '', set.ids);
  for (const { resource, key } of gone) {
    // The inventory keeps less than the whole.
    const before = await liveObject(client, { resource, key }, signal);
    if (before === undefined) continue;
    const change = changeOf({ resource, key }, { before, after: undefined });
    if (change !== undefined) changes.push(change);
  }
  return { changes, unchanged, problems, warnings: forecast.warnings };
}

async function* inOrder({ objects }: DesiredSet): AsyncGenerator<DesiredObject> {
  yield* inKindOrder(objects).flat();
}

function changeOf(
  { resource, key }: { readonly resource: Resource; readonly key: ObjectKey },
  states: Parameters<typeof shownObject>[0],
): ObjectChange | undefined {
  const path = objectPath(resource.kind, key);
  const diff = unifiedDiff({
    names: [
      states.before === undefined ? '/dev/null' : `live/${path}`,
      states.after === undefined ? '/dev/null' : `upgrade/${path}`,
    ],
    ...shownObject(states),
  });
  if (diff === '') return undefined;
  return {
    action: actionOf(states),
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    ...(key.namespace === undefined ? {} : { namespace: key.namespace }),
    name: key.name,
    diff,
  };
}

function actionOf({ before, after }: Parameters<typeof shownObject>[0]): ObjectChange['action'] {
  if (before === undefined) return 'create';
  return after === undefined ? 'prune' : 'change';
}
