import { isDeepStrictEqual } from 'node:util';
import { apiVersionOf } from '../../../api/gvk.ts';
import { mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import {
  DeploymentConsent,
  desiredSet,
  type ForeseenObject,
  forecastObjects,
  type InventoryEntry,
  isDefinition,
  isSecret,
  lostConversions,
  mask,
  type ObjectStates,
  objectPath,
  planRemoval,
  secretFields,
  splitHooks,
  wantedContent,
  withoutCopy,
} from '../../../core/apply/index.ts';
import type { LeftOutObject } from '../../../core/contracts/applier.ts';
import { toYaml } from '../../../core/manifests/index.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import type { Cluster } from '../cluster.ts';
import { foreseenPolicy } from '../deployments/deletion-policy.ts';
import { ownedObjects } from '../objects/owned-objects.ts';
import { unifiedDiff } from './unified-diff.ts';

interface UpgradeRequest {
  readonly owner: BundleDeployment;
  readonly objects: readonly KubernetesObject[];
  readonly leftOut?: readonly LeftOutObject[];
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

/** The change of one object. */
interface ObjectChange {
  readonly action: 'create' | 'change' | 'prune' | 'orphan';
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  /** Unified diff of YAML with masked values of Secrets; for `orphan` a line with the reason. */
  readonly diff: string;
}

export interface UpgradeDiff {
  readonly changes: readonly ObjectChange[];
  readonly unchanged: number;
  /** Why core would refuse the upgrade, or why that is unknown. */
  readonly problems: readonly string[];
  /** Warnings about fields that core would leave out, and CRDs that it would keep unusable. */
  readonly warnings: readonly string[];
}

/**
 * The changes that an upgrade of a deployment to these objects would make, from dry runs: writes
 * nothing.
 * @throws TerminalError when core would refuse all of it; ApiError.
 */
export async function upgradeDiff(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  request: UpgradeRequest,
): Promise<UpgradeDiff> {
  const { client, discovery } = cluster;
  const { owner } = request;
  // Objects of hooks exist only for a while.
  const { objects } = splitHooks(request.objects);
  const set = await desiredSet({ ...request, objects, operation: 'upgrade', discovery });
  const { inventory, hidden } = await ownedObjects(cluster, request);
  const { policy, isCertain } = await foreseenPolicy(client, request);
  const plan = planRemoval(inventory, { owner, policy, wanted: set });
  const forecasts = await forecastObjects(
    {
      ...request,
      client,
      consent: new DeploymentConsent({ ...request, client }),
      set,
      pending: set.objects,
      superfluous: plan.remove,
      clock: systemClock,
    },
    changeOf,
  );
  const lost = await lostConversions(plan, { client, signal: request.signal });
  const unseen = hidden.map(
    (kind) => `you may not list ${kind}: objects of it that would be pruned are not shown`,
  );
  return {
    ...forecasts,
    changes: [...forecasts.changes, ...[...plan.orphan].map(orphaned)],
    warnings: [
      ...forecasts.warnings,
      ...lost.values(),
      ...(isCertain ? [] : plan.remove.flatMap(unsure)),
    ],
    problems: [...forecasts.problems, ...unseen],
  };
}

/** What is said of a CRD when the policy is a guess. */
function unsure({ resource, key }: InventoryEntry): readonly string[] {
  if (!isDefinition(resource)) return [];
  return [
    `${objectPath(resource.kind, key)} is pruned with its custom resources, unless core runs with --default-deletion-policy KeepCRDs or Orphan`,
  ];
}

function changeOf({ resource, key, ...states }: ForeseenObject): ObjectChange | undefined {
  const path = objectPath(resource.kind, key);
  const diff = unifiedDiff({
    names: [
      states.before === undefined ? '/dev/null' : `live/${path}`,
      states.after === undefined ? '/dev/null' : `upgrade/${path}`,
    ],
    ...shownObject(states),
  });
  if (diff === '') return undefined;
  return { action: actionOf(states), ...namedObject({ resource, key }), diff };
}

function orphaned([entry, because]: readonly [InventoryEntry, string]): ObjectChange {
  const path = objectPath(entry.resource.kind, entry.key);
  return { action: 'orphan', ...namedObject(entry), diff: `orphan ${path} (${because})\n` };
}

function namedObject({
  resource,
  key: { namespace, name },
}: Pick<ForeseenObject, 'resource' | 'key'>): Omit<ObjectChange, 'action' | 'diff'> {
  const kind = { apiVersion: apiVersionOf(resource), kind: resource.kind };
  return { ...kind, ...(namespace === undefined ? {} : { namespace }), name };
}

function actionOf({ before, after }: ObjectStates): ObjectChange['action'] {
  if (before === undefined) return 'create';
  return after === undefined ? 'prune' : 'change';
}

/** Both states as YAML, without the server's fields and without the values of Secrets. */
export function shownObject(states: ObjectStates): {
  readonly before: string;
  readonly after: string;
} {
  const { before, after } = maskSecrets({
    before: states.before && wantedContent(states.before),
    after: states.after && wantedContent(states.after),
  });
  return { before: yamlOf(before), after: yamlOf(after) };
}

function yamlOf(object: KubernetesObject | undefined): string {
  // Without the separator line of a document.
  return object === undefined ? '' : toYaml([object]).replace(/^---\n/, '');
}

/** Masks values as kubectl diff does: `***` for each value, with a word when the two differ. */
function maskSecrets({ before, after }: ObjectStates): ObjectStates {
  const example = before ?? after;
  if (example === undefined || !isSecret(example)) return { before, after };
  return { before: masked(before, after, 'before'), after: masked(after, before, 'after') };
}

function masked(
  object: KubernetesObject | undefined,
  other: KubernetesObject | undefined,
  side: 'before' | 'after',
): KubernetesObject | undefined {
  if (object === undefined) return undefined;
  const hidden = { ...object, metadata: withoutCopy(object.metadata) };
  for (const field of secretFields) {
    if (object[field] === undefined) continue;
    const others = mapOf(other?.[field]);
    const values = Object.entries(mapOf(object[field])).map(([key, value]) => {
      const differs = Object.hasOwn(others, key) && !isDeepStrictEqual(others[key], value);
      return [key, differs ? `${mask} (${side})` : mask];
    });
    Object.assign(hidden, { [field]: Object.fromEntries(values) });
  }
  return hidden;
}
