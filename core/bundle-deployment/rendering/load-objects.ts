import { createHash, type Hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
} from '../../../api/v1alpha1/conditions.ts';
import type { BundleDeployment, BundleDeploymentStatus } from '../../../api/v1alpha1/index.ts';
import { digestOf, type SplitObjects, splitHooks } from '../../apply/index.ts';
import { errorMessage, TerminalError, WaitingError } from '../../errors.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  longestWait,
  type StepContext,
  type StepOutcome,
} from '../phase.ts';
import { hasBegun } from '../phases/await-dependencies.ts';
import { fallBack, keptBundle } from '../phases/choose-target.ts';
import { hasValidBundle } from '../status.ts';
import { LostContentError, render, renderAgain } from './render.ts';
import type { Rendered } from './rendered-objects.ts';

/**
 * Loads the target. Where nothing can be made of it, or not yet, what is installed is kept in place
 * meanwhile, with its certificates; the reconcile fails all the same, at its end.
 */
export async function loadOrKeepActive(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  if (state.keepOnly === true) {
    return (await loadLastApplied(state, dependencies, context)) ? 'continue' : 'done';
  }
  try {
    return await loadObjects(state, dependencies, context);
  } catch (failure) {
    if (!(failure instanceof Error) || context.signal.aborted) throw failure;
    state.failure = failure;
    // An input that was missing or refused, or a class that was away: nobody tells when that is over.
    if (!isOfContent(failure)) context.wakeAfter(longestWait);
    if (await keepsActive(state, dependencies, context)) return 'continue';
    throw failure;
  }
}

/** What is wrong with the new one is what is told, whatever is with this one. */
async function keepsActive(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<boolean> {
  if (isOfContent(state.failure) && standsIn(state, dependencies)) {
    const loaded = await loadObjects(state, dependencies, context).catch(() => undefined);
    if (loaded !== undefined) return true;
  }
  return await loadLastApplied(state, dependencies, context).catch(() => false);
}

function isOfContent(error: unknown): boolean {
  if (error instanceof LostContentError) return false;
  return error instanceof TerminalError || error instanceof WaitingError;
}

/** Makes the active Bundle the target where it is another one, of which nothing is replaced yet. */
function standsIn(state: BundleDeploymentState, dependencies: ReconcileDependencies): boolean {
  const { bundle, target } = state;
  if (bundle === undefined || target !== bundle) return false;
  const isSame = bundle.metadata.name === state.status.activeBundle;
  if (isSame && keptBundle(state, dependencies.bundles) === undefined) return false;
  if (fallBack(state, dependencies) === 'done') return false;
  if (!isReplaced(state, dependencies)) return true;
  state.target = bundle;
  return false;
}

/** A process that has applied all of it knows; another one goes by what the status says. */
function isReplaced(
  { deployment, target }: BundleDeploymentState,
  { lastApplied }: ReconcileDependencies,
): boolean {
  if (target !== undefined && lastApplied.get(deployment, target) !== undefined) return false;
  return hasBegun(deployment);
}

/** Lets the classes of Bundle and deployment turn the stored content into objects. */
export async function loadObjects(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<StepOutcome> {
  try {
    await takeRendering(state, await render(state, dependencies, context), context);
    return 'continue';
  } catch (error) {
    // Waiting makes no valid bundle invalid, nor does what is wrong with another one.
    if (isNoNews(error, state) || state.target !== state.bundle) throw error;
    state.status = hasValidBundle(
      state.status,
      {
        status: 'False',
        reason: bundleDeploymentReason.bundleLoadFailed,
        message: errorMessage(error),
      },
      dependencies.clock,
    );
    throw error;
  }
}

/**
 * Content comes back by itself. What a class waits for is told, unless it made objects of the very
 * same before, which are installed.
 */
function isNoNews(error: unknown, { deployment, status, target }: BundleDeploymentState): boolean {
  if (error instanceof LostContentError) return isValid(status);
  if (!(error instanceof WaitingError)) return false;
  return isTold(deployment) && deployment.status?.activeBundle === target?.metadata.name;
}

function isTold({ metadata, status = {} }: BundleDeployment): boolean {
  return status.observedGeneration === metadata.generation && isValid(status);
}

function isValid({ conditions }: BundleDeploymentStatus): boolean {
  const { hasValidBundle: type } = bundleDeploymentCondition;
  return findCondition(conditions, type)?.status === 'True';
}

/**
 * Takes the target's objects as they were applied last, whatever the spec says since; false where
 * this process does not know how they were.
 */
export async function loadLastApplied(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: StepContext,
): Promise<boolean> {
  const { deployment, target } = state;
  const recipe = target && dependencies.lastApplied.get(deployment, target);
  const rendered = recipe && (await renderAgain(recipe, dependencies, context));
  if (rendered === undefined) return false;
  await takeRendering(state, rendered, context);
  state.kept = true;
  return true;
}

/** Puts what a class has made of the target into the state, hooks apart. */
async function takeRendering(
  state: BundleDeploymentState,
  rendered: Rendered | undefined,
  { signal }: Pick<StepContext, 'signal'>,
): Promise<void> {
  const split = splitHooks(rendered?.objects ?? []);
  const name = state.target?.metadata.name ?? '';
  state.recipe = rendered?.recipe;
  state.objects = split.objects;
  state.hooks = split.hooks;
  state.revision = split.hooks.length === 0 ? undefined : await revisionOf(name, split, signal);
}

interface KnownRevision {
  readonly bundle: string;
  readonly revision: string;
}

/** Milliseconds of work between two looks at what else there is to do. */
const maxTurn = 10;

/** By the list of hooks, which comes and goes with the objects; a deployment is looked at often. */
const known = new WeakMap<readonly KubernetesObject[], KnownRevision>();

/** Another one for another Bundle, and for anything else that its objects and hooks are made to be. */
export async function revisionOf(
  bundle: string,
  { objects, hooks }: SplitObjects,
  signal: AbortSignal,
): Promise<string> {
  const found = known.get(hooks);
  if (found?.bundle === bundle) return found.revision;
  const hash = createHash('sha256').update(bundle);
  const revision = await digestOfAll([...hooks, ...objects], hash, signal);
  known.set(hooks, { bundle, revision });
  return revision;
}

/** Digest of objects in their order, after what the hash has taken before. */
export async function digestOfAll(
  objects: readonly KubernetesObject[],
  hash: Pick<Hash, 'digest'> & { update(text: string): unknown },
  signal: AbortSignal,
): Promise<string> {
  let turn = performance.now();
  for (const object of objects) {
    // CRDs alone may be megabytes: others must get their turn.
    if (performance.now() - turn > maxTurn) {
      await setImmediate();
      signal.throwIfAborted();
      turn = performance.now();
    }
    hash.update(digestOf(object));
  }
  return hash.digest('base64url');
}
