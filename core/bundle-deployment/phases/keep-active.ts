import { errorMessage, TerminalError } from '../../errors.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  type Found,
  inOrder,
  type Phase,
  type PhaseContext,
} from '../phase.ts';
import { isNewContent } from '../rendering/applied-content.ts';
import { loadActive } from '../rendering/load-objects.ts';
import { apply, certify, noteCertified } from './apply.ts';

/**
 * The phase, which rolls out new content. When that is refused before anything of it is applied,
 * what is installed is kept in place instead: its drift is repaired and its certificates are
 * renewed, however long the refusal lasts. The reconcile ends with the refusal all the same.
 */
export function orKeepActive(phase: Phase): Phase {
  return async (state, dependencies, context) => {
    const found = await phase(state, dependencies, context);
    const refusal = refusalIn(found);
    if (refusal === undefined || !leavesActive(state)) return found;
    const { object: deployment } = context.live;
    const refused = { ...state, ...found, deployment, failure: refusal };
    const status = await keepActive(refused, dependencies, context);
    return status === undefined ? found : { ...found, status };
  };
}

function refusalIn({ error }: Found): TerminalError | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof TerminalError ? cause : undefined;
}

/**
 * Otherwise what was refused is the repair of the active Bundle itself, or something else has begun
 * to replace it: to go back to it would delete what that has made.
 */
function leavesActive(state: BundleDeploymentState): boolean {
  if (state.target !== state.bundle || state.kept === true) return false;
  return isNewContent(state) && state.status.applied?.superseded !== true;
}

/**
 * The status of the refusal with what became known of the active Bundle's objects; undefined when
 * nothing may be kept, because the new content has begun to replace it.
 */
async function keepActive(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<BundleDeploymentState['status'] | undefined> {
  const active = await loadActive(state, dependencies, context);
  if (active?.objects === undefined) return undefined;
  const standing = { ...state, ...active, kept: true };
  const found = await inOrder(certify, apply, noteCertified)(standing, dependencies, context);
  const { status = state.status, error, done } = found;
  if (error === undefined && done === undefined) return status;
  const bundle = standing.target?.metadata.name;
  if (error !== undefined) {
    const why = errorMessage(error);
    context.logger.info({ bundle, error: why }, 'the installed Bundle cannot be kept in place');
  }
  // The refusal is what somebody must hear of.
  const { conditions } = state.status;
  return { ...status, ...(conditions && { conditions }) };
}
