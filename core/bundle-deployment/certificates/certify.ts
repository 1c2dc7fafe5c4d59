import { TerminalError, WaitingError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import { installFailure } from '../install-failure.ts';
import { longestWait } from '../longest-wait.ts';
import type { BundleDeploymentState, StepContext, StepOutcome } from '../state.ts';

const shortestWait = 1_000;

/** Gives the objects the certificates that they are annotated to have. */
export async function certify(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  { signal, wakeAfter }: StepContext,
): Promise<StepOutcome> {
  const { certificates, clock } = dependencies;
  const { deployment, objects } = state;
  if (objects === undefined) return 'continue';
  try {
    const certified = await certificates.certify({ deployment, objects, signal });
    state.uncertified = objects;
    state.objects = certified.objects;
    state.rotating = certified.isRotating === true;
    if (certified.nextStepAt !== undefined) wakeAfter(waitUntil(certified.nextStepAt, clock));
    return 'continue';
  } catch (error) {
    // What is wrong with the connection says nothing of the deployment.
    if (!isNews(error)) throw error;
    // Nobody tells when the provider of certificates has come.
    if (error instanceof WaitingError) wakeAfter(longestWait);
    throw installFailure(state, error, dependencies);
  }
}

/** Notes that all objects have what they were given; reached only once all are applied. */
export async function noteCertified(
  { deployment, uncertified }: BundleDeploymentState,
  { certificates, clock }: ReconcileDependencies,
  { wakeAfter }: StepContext,
): Promise<StepOutcome> {
  if (uncertified === undefined) return 'continue';
  const at = certificates.applied({ deployment, objects: uncertified });
  if (at !== undefined) wakeAfter(waitUntil(at, clock));
  return 'continue';
}

function isNews(error: unknown): boolean {
  return error instanceof TerminalError || error instanceof WaitingError;
}

/** Milliseconds: whatever the clock does, one deployment must not keep a worker busy. */
function waitUntil(at: number, clock: Clock): number {
  return Math.max(shortestWait, at - clock.now());
}
