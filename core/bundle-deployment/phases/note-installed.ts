import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { AppliedStatus } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { withNote } from '../../../api/v1alpha1/rules/noted-value.ts';
import type { ApplyRequest } from '../../contracts/applier.ts';
import { shortList } from '../../short-list.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { withHooksDone } from '../hooks/hook-run.ts';
import type { LiveDeployment } from '../live-deployment.ts';
import type { BundleDeploymentState, Found, PhaseContext } from '../phase.ts';
import {
  carriesOutPlan,
  contentOf,
  isUnchanged,
  waitingOf,
  wasReplaced,
} from '../rendering/applied-content.ts';
import { secretsDigest } from '../rendering/generated-values.ts';
import type { Recipe } from '../rendering/rendered-objects.ts';
import { withApplied } from '../revisions/history.ts';
import { installed } from '../status.ts';

/** Makes the target the active Bundle: it is completely applied, and its hooks have run. */
export async function noteInstalled(
  state: BundleDeploymentState,
  { clock, lastApplied }: ReconcileDependencies,
  { live }: PhaseContext,
): Promise<Found> {
  const { deployment, recipe, target } = state;
  if (recipe !== undefined) lastApplied.complete(deployment, recipe);
  let status = installed(state.status, target?.metadata.name ?? '', clock);
  status = withApplied({ ...state, status }, clock);
  status = withHooksDone({ ...state, status });
  status = withAppliedRendering({ ...state, status });
  try {
    await noteHooks(status, live);
    return { status };
  } catch (error) {
    return { status, error };
  }
}

/**
 * Also writes the hooks onto the deployment itself: after a restore without status they must not
 * run again.
 */
async function noteHooks({ hooks }: BundleDeploymentStatus, live: LiveDeployment): Promise<void> {
  const { name = '', annotations = {} } = live.object.metadata;
  const key = annotation.hooksApplied;
  const value = hooks?.applied === undefined ? undefined : withNote(name, hooks.applied);
  if (annotations[key] !== value) await live.annotate({ [key]: value ?? null });
}

const maxGroups = 200;
const namedGroups = 5;

/** The status after the target is completely applied and no deletion is pending. */
function withAppliedRendering({
  status,
  recipe,
  settled,
  content,
  kept,
  ...rendered
}: BundleDeploymentState): BundleDeploymentStatus {
  if (settled !== true || recipe === undefined) return status;
  const { objects = [], uncertified = objects } = rendered;
  const secrets = secretsDigest(recipe, uncertified);
  const applied: AppliedStatus = {
    bundle: recipe.bundle.metadata.name ?? '',
    ...contentOf(recipe),
    ...(secrets !== undefined && { secrets }),
    ...(content !== undefined && kept !== true && { objects: content }),
    ...clusterIn(recipe),
  };
  return { ...status, applied };
}

/**
 * Whether core may delete objects that the target lacks: somebody changed the template, the config
 * or an input since the last complete apply, or approved a plan. When only facts about the cluster
 * changed, nobody asked for it.
 */
export function askedDeletions(
  state: BundleDeploymentState,
): Pick<ApplyRequest, 'deletionsAsked' | 'changedFacts' | 'askedBefore'> {
  const { recipe, status } = state;
  if (recipe === undefined || carriesOutPlan(state)) return {};
  const { applied } = status;
  const waiting = waitingOf(status, recipe);
  if (waiting !== undefined) {
    const askedBefore = waiting.objects;
    return { deletionsAsked: false, changedFacts: changedFacts(waiting, recipe), askedBefore };
  }
  if (applied === undefined ? !isUnchanged(state) : wasReplaced(applied, recipe)) return {};
  return { deletionsAsked: false, changedFacts: changedFacts(applied, recipe) };
}

/**
 * The status after the target is completely applied: with the deletions that somebody asked for and
 * that wait. Only these were asked for, whatever the class renders later from the same content.
 */
export function withWaitingDeletions(
  state: Pick<BundleDeploymentState, 'status' | 'recipe'>,
  objects: readonly string[] | undefined,
): BundleDeploymentStatus {
  const { recipe } = state;
  if (recipe === undefined) return state.status;
  const { waitingDeletions: _, ...status } = state.status;
  if (objects === undefined) return status;
  const waiting = waitingOf(state.status, recipe) ?? { ...contentOf(recipe), ...clusterIn(recipe) };
  return { ...status, waitingDeletions: { ...waiting, objects: [...objects] } };
}

function changedFacts(applied: ClusterFacts | undefined, recipe: Recipe): string {
  const { kubernetes, apiGroups } = clusterIn(recipe);
  const changes = [...lostGroups(applied, apiGroups)];
  if (applied?.kubernetes !== undefined && applied.kubernetes !== kubernetes) {
    changes.push(`Kubernetes changed from ${applied.kubernetes} to ${kubernetes}`);
  }
  if (changes.length > 0) return changes.join(', ');
  const { provisionerClassName } = recipe.deployment.spec;
  const causes = `the APIs or proxies of the cluster, or the code of class ${provisionerClassName}, have changed`;
  return `${causes}, or somebody created the objects again after core deleted them`;
}

/** One clause, or none. Without a record of all groups it is unknown. */
function lostGroups(
  { apiGroups: before = [] }: ClusterFacts = {},
  apiGroups: readonly string[] = [],
): readonly string[] {
  const served = new Set(apiGroups);
  const lost = before.filter((group) => !served.has(group));
  if (lost.length === 0 || served.size >= maxGroups) return [];
  if (lost.length === 1) return [`API group ${lost[0]} is not served any more`];
  return [`API groups ${shortList(lost, namedGroups)} are not served any more`];
}

type ClusterFacts = Pick<AppliedStatus, 'kubernetes' | 'apiGroups'>;

/** Kubernetes' own groups change only with its version. */
function clusterIn({ facts: { cluster } }: Recipe): ClusterFacts {
  if (cluster === undefined) return {};
  const groups = cluster.apiVersions
    .map((apiVersion) => apiVersion.split('/')[0] ?? '')
    .filter((group) => group.includes('.') && !group.endsWith('.k8s.io'));
  const apiGroups = [...new Set(groups)].slice(0, maxGroups);
  return { kubernetes: cluster.version, apiGroups };
}
