import { errorMessage, TerminalError } from '../../errors.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  type Found,
  inOrder,
  mustNotBeTold,
  type Phase,
  type PhaseContext,
} from '../phase.ts';
import { apply, certify, noteCertified } from '../phases/apply.ts';
import { isNewContent } from '../rendering/applied-content.ts';
import { secretsDigest } from '../rendering/generated-values.ts';
import { loadLastApplied, loadObjects, standInFor } from '../rendering/load-objects.ts';

/**
 * The phase, which rolls out new content. When that is refused before anything of it is applied,
 * what is installed is kept in place instead: its drift is repaired and its certificates are
 * renewed, however long the refusal lasts. The reconcile ends with the refusal all the same.
 */
export function orKeepActive(phase: Phase): Phase {
  return async (state, dependencies, context) => {
    const found = await phase(state, dependencies, context);
    const refusal = refusalIn(found);
    if (refusal === undefined || found.begun === true || !isNews(state)) return found;
    const { object: deployment } = context.live;
    const refused = { ...state, ...found, deployment, failure: refusal };
    return { ...found, ...(await keepActive(refused, dependencies, context)) };
  };
}

function refusalIn({ error }: Found): TerminalError | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof TerminalError ? cause : undefined;
}

/** Otherwise what was refused is the repair of the active Bundle itself. */
function isNews(state: BundleDeploymentState): boolean {
  return state.target === state.bundle && state.kept !== true && isNewContent(state);
}

/**
 * The status of the refusal with what became known of the active Bundle's objects; nothing when it
 * must not be kept.
 */
async function keepActive(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Pick<Found, 'status' | 'error'>> {
  const installed = await loadInstalled(state, dependencies, context);
  if (installed === undefined) return {};
  // Those of the refused objects may be for other hosts.
  dependencies.certificates.refused(state.deployment);
  const standing = { ...state, ...installed, kept: true };
  const found = await inOrder(certify, apply, noteCertified)(standing, dependencies, context);
  const { status = state.status, error, done } = found;
  if (error === undefined && done === undefined) return { status };
  const bundle = standing.target?.metadata.name;
  if (error !== undefined) {
    if (mustNotBeTold(error, context.signal)) return { error };
    const why = errorMessage(error);
    context.logger.info({ bundle, error: why }, 'the installed Bundle cannot be kept in place');
  }
  // The refusal is what somebody must hear of.
  const { conditions } = state.status;
  return { status: { ...status, ...(conditions && { conditions }) } };
}

/**
 * The active Bundle as it was completely applied last. Undefined when other content has begun to
 * replace it since, such as that of a Bundle before the refused one, which may have the same objects.
 */
async function loadInstalled(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found | undefined> {
  const active = standInFor(state, dependencies);
  const standing = active === undefined ? state : { ...state, target: active };
  const known = await loadLastApplied(standing, dependencies, context).catch(() => undefined);
  const found = known ?? (active && (await loadAsInstalled(standing, dependencies, context)));
  if (found?.objects === undefined) return undefined;
  if (isNewContent({ ...standing, ...found, kept: true })) return undefined;
  return { ...found, ...(active && { target: active }) };
}

/**
 * Renders it, in a process that has not applied it. With upgradePolicy Manual nobody has seen what
 * comes of that, and other generated values would replace passwords that are in use.
 */
async function loadAsInstalled(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found | undefined> {
  if (state.deployment.spec.upgradePolicy === 'Manual') return undefined;
  const { recipe, objects, ...found } = await loadObjects(state, dependencies, context);
  if (recipe === undefined || objects === undefined) return undefined;
  const isSame = secretsDigest(recipe, objects) === state.status.applied?.secrets;
  return isSame ? { ...found, recipe, objects } : undefined;
}
