import { createHash, type Hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { KubernetesObject } from '../../../api/meta.ts';
import {
  bundleDeploymentCondition,
  bundleDeploymentReason,
} from '../../../api/v1alpha1/conditions.ts';
import type {
  Bundle,
  BundleDeployment,
  BundleDeploymentStatus,
} from '../../../api/v1alpha1/index.ts';
import { digestOf, type SplitObjects, splitHooks } from '../../apply/index.ts';
import { errorMessage, TerminalError, WaitingError } from '../../errors.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  type Found,
  longestWait,
  type PhaseContext,
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
  context: PhaseContext,
): Promise<Found> {
  if (state.keepOnly === true) {
    return (await loadLastApplied(state, dependencies, context)) ?? { done: true };
  }
  const loaded = await loadObjects(state, dependencies, context);
  const { error: failure, ...found } = loaded;
  if (!(failure instanceof Error) || context.signal.aborted) return loaded;
  // An input that was missing or refused, or a class that was away: nobody tells when that is over.
  if (!isOfContent(failure)) context.wakeAfter(longestWait);
  const active = await loadActive({ ...state, ...found, failure }, dependencies, context);
  return active === undefined ? { ...loaded, failure } : { ...found, failure, ...active };
}

/** What is wrong with the new one is what is told, whatever is with this one. */
async function loadActive(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found | undefined> {
  const target = isOfContent(state.failure) ? standInFor(state, dependencies) : undefined;
  const standing = target === undefined ? state : { ...state, target };
  if (target !== undefined) {
    const loaded = await loadObjects(standing, dependencies, context);
    if (!('error' in loaded)) return { target, ...loaded };
  }
  const kept = await loadLastApplied(standing, dependencies, context).catch(() => undefined);
  return kept && { ...(target && { target }), ...kept };
}

function isOfContent(error: unknown): boolean {
  if (error instanceof LostContentError) return false;
  return error instanceof TerminalError || error instanceof WaitingError;
}

/** The active Bundle where it is another one than the target, of which nothing is replaced yet. */
function standInFor(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
): Bundle | undefined {
  const { bundle, target } = state;
  if (bundle === undefined || target !== bundle) return undefined;
  const isSame = bundle.metadata.name === state.status.activeBundle;
  if (isSame && keptBundle(state, dependencies.bundles) === undefined) return undefined;
  const { target: active } = fallBack(state, dependencies);
  if (active === undefined || isReplaced(active, state.deployment, dependencies)) return undefined;
  return active;
}

/** A process that has applied all of it knows; another one goes by what the status says. */
function isReplaced(
  active: Bundle,
  deployment: BundleDeployment,
  { lastApplied }: ReconcileDependencies,
): boolean {
  return lastApplied.get(deployment, active) === undefined && hasBegun(deployment);
}

/**
 * Lets the classes of Bundle and deployment turn the target's stored content into objects; an error is
 * told in the status.
 */
export async function loadObjects(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  try {
    return await split(state, await render(state, dependencies, context), context);
  } catch (error) {
    // Waiting makes no valid bundle invalid, nor does what is wrong with another one.
    if (isNoNews(error, state) || state.target !== state.bundle) return { error };
    const outcome = {
      status: 'False',
      reason: bundleDeploymentReason.bundleLoadFailed,
      message: errorMessage(error),
    } as const;
    return { status: hasValidBundle(state.status, outcome, dependencies.clock), error };
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
 * The target's objects as they were applied last, whatever the spec says since; undefined where this
 * process does not know how they were.
 */
export async function loadLastApplied(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found | undefined> {
  const { deployment, target } = state;
  const recipe = target && dependencies.lastApplied.get(deployment, target);
  const rendered = recipe && (await renderAgain(recipe, dependencies, context));
  return rendered && { ...(await split(state, rendered, context)), kept: true };
}

/** What a class has made of the target, hooks apart. */
async function split(
  { target }: BundleDeploymentState,
  rendered: Rendered | undefined,
  { signal }: Pick<PhaseContext, 'signal'>,
): Promise<Found> {
  const { objects, hooks } = splitHooks(rendered?.objects ?? []);
  const name = target?.metadata.name ?? '';
  const revision =
    hooks.length === 0 ? undefined : await revisionOf(name, { objects, hooks }, signal);
  return { recipe: rendered?.recipe, objects, hooks, revision };
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
