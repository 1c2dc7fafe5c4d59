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
import { renderingOf } from '../plan/approval.ts';
import type { Recipe } from '../rendering/rendered-objects.ts';
import { withApplied } from '../revisions/history.ts';
import { installed, isUnchanged } from '../status.ts';

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
}: BundleDeploymentState): BundleDeploymentStatus {
  if (settled !== true || recipe === undefined) return status;
  const { inputsDigest: inputs, seedIdentity: seed } = recipe.facts;
  const { name = '', uid = '' } = recipe.bundle.metadata;
  const applied: AppliedStatus = {
    bundle: name,
    uid,
    rendering: renderingOf(recipe.deployment.spec),
    ...(inputs !== undefined && { inputs }),
    ...(seed !== undefined && { seed }),
    ...(content !== undefined && kept !== true && { objects: content }),
    ...clusterIn(recipe),
  };
  return { ...status, applied };
}

/**
 * The status before the target is applied. A target with another rendering than the last complete
 * apply may leave objects behind, which a way back deletes.
 */
export function withSuperseded({
  status,
  recipe,
}: Pick<BundleDeploymentState, 'status' | 'recipe'>): BundleDeploymentStatus {
  const { applied } = status;
  if (applied === undefined || recipe === undefined || !isOther(applied, recipe)) return status;
  return { ...status, applied: { ...applied, superseded: true } };
}

/**
 * Whether core may delete objects that the target lacks: somebody changed the template, the config
 * or an input since the last complete apply, or approved a plan. When only facts about the cluster
 * changed, nobody asked for it.
 */
export function askedDeletions(
  state: BundleDeploymentState,
): Pick<ApplyRequest, 'deletionsAsked' | 'changedFacts'> {
  const { recipe, kept, approved, status } = state;
  if (recipe === undefined || (approved === true && kept !== true)) return {};
  const { applied } = status;
  if (applied === undefined ? !isUnchanged(state) : wasReplaced(applied, recipe)) return {};
  return { deletionsAsked: false, changedFacts: changedFacts(applied, recipe) };
}

function wasReplaced(applied: AppliedStatus, recipe: Recipe): boolean {
  return applied.superseded === true || isOther(applied, recipe);
}

function isOther(applied: AppliedStatus, { bundle, deployment, facts }: Recipe): boolean {
  // Digests of inputs are keyed with the seed: those of another seed cannot be compared.
  const sameSeed = applied.seed === facts.seedIdentity;
  return (
    applied.uid !== bundle.metadata.uid ||
    applied.rendering !== renderingOf(deployment.spec) ||
    (sameSeed && applied.inputs !== facts.inputsDigest)
  );
}

function changedFacts(applied: AppliedStatus | undefined, recipe: Recipe): string {
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
  { apiGroups: before = [] }: Partial<AppliedStatus> = {},
  apiGroups: readonly string[] = [],
): readonly string[] {
  const served = new Set(apiGroups);
  const lost = before.filter((group) => !served.has(group));
  if (lost.length === 0 || served.size >= maxGroups) return [];
  if (lost.length === 1) return [`API group ${lost[0]} is not served any more`];
  return [`API groups ${shortList(lost, namedGroups)} are not served any more`];
}

/** Kubernetes' own groups change only with its version. */
function clusterIn({
  facts: { cluster },
}: Recipe): Pick<AppliedStatus, 'kubernetes' | 'apiGroups'> {
  if (cluster === undefined) return {};
  const groups = cluster.apiVersions
    .map((apiVersion) => apiVersion.split('/')[0] ?? '')
    .filter((group) => group.includes('.') && !group.endsWith('.k8s.io'));
  const apiGroups = [...new Set(groups)].slice(0, maxGroups);
  return { kubernetes: cluster.version, apiGroups };
}
