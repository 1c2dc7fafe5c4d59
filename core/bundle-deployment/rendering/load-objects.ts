import { createHash, type Hash } from 'node:crypto';
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
import { digestOf, renderingOf, type SplitObjects, splitHooks } from '../../apply/index.ts';
import { errorMessage, TerminalError, WaitingError } from '../../errors.ts';
import { findCondition } from '../../platform/runtime/index.ts';
import { Turns } from '../../platform/turns.ts';
import { LostContentError, type ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  type Found,
  longestWait,
  type PhaseContext,
} from '../phase.ts';
import { fallBack, keptBundle } from '../phases/choose-target.ts';
import { appliedRendering } from '../plan/approval.ts';
import { hasBegun } from '../revisions/begun.ts';
import { hasValidBundle } from '../status.ts';
import { render, renderAgain } from './render.ts';
import type { Rendered } from './rendered-objects.ts';

/**
 * Loads the target. When it cannot be rendered now, core keeps the installed objects in place, with
 * their certificates, and the reconcile fails at its end. The active Bundle in the place of one that
 * waits stays as it was applied: class and config may have changed together with the template.
 */
export async function loadOrKeepActive(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  if (state.keepOnly === true || isForOther(state, dependencies)) {
    return (await loadLastApplied(state, dependencies, context)) ?? { done: true };
  }
  const loaded = await loadOnce(state, dependencies, context);
  const { error: failure, ...found } = loaded;
  if (!(failure instanceof Error) || context.signal.aborted) return loaded;
  // A missing or forbidden input may appear, or an unavailable class may return, without an event.
  if (!isOfContent(failure)) context.wakeAfter(longestWait);
  const active = await loadActive({ ...state, ...found, failure }, dependencies, context);
  return active === undefined ? { ...loaded, failure } : { ...found, failure, ...active };
}

/**
 * Loads the target unless it was loaded, or failed to load, to find out whether its content is
 * approved: a second time it may have other content.
 */
async function loadOnce(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { loadError: error, content, recipe, target } = state;
  if (error !== undefined) return { error };
  const uid = target?.metadata.uid;
  const isCompared = content !== undefined && recipe?.bundle.metadata.uid === uid;
  return isCompared ? {} : await loadObjects(state, dependencies, context);
}

/**
 * Ignores errors of the active Bundle: the error of the new one is reported. With upgradePolicy
 * Manual the active one stays as it was applied, because nobody has seen its present content.
 */
export async function loadActive(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found | undefined> {
  const target = isOfContent(state.failure) ? standInFor(state, dependencies) : undefined;
  const standing = target === undefined ? state : { ...state, target };
  const isSeen = state.deployment.spec.upgradePolicy !== 'Manual';
  if (target !== undefined && isSeen && !isForOther(standing, dependencies)) {
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

/**
 * The active Bundle, when it differs from the target and the target has not started to replace it.
 */
export function standInFor(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
): Bundle | undefined {
  const { bundle, target } = state;
  if (bundle === undefined || target !== bundle) return undefined;
  const isSame = bundle.metadata.name === state.status.activeBundle;
  if (isSame && keptBundle(state, dependencies.bundles) === undefined) return undefined;
  const { target: active } = fallBack(state, dependencies);
  if (active === undefined) return undefined;
  return isReplaced(active, { ...state, bundle }, dependencies) ? undefined : active;
}

/**
 * Whether the target is the active Bundle in the place of another one, and was rendered last with
 * another class or config than the spec has now. An earlier Bundle of a rollback gets the present
 * ones.
 */
function isForOther(
  { deployment, bundle, target, status }: BundleDeploymentState,
  { lastApplied }: ReconcileDependencies,
): boolean {
  if (target === undefined || target.metadata.name === bundle?.metadata.name) return false;
  if (status.rollback !== undefined) return false;
  const { spec } = lastApplied.get(deployment, target)?.deployment ?? {};
  const applied = spec === undefined ? appliedRendering(status, target) : renderingOf(spec);
  return applied !== undefined && applied !== renderingOf(deployment.spec);
}

/** A process that has completely applied the active Bundle knows; another one uses the status. */
function isReplaced(
  active: Bundle,
  { deployment, bundle }: { readonly deployment: BundleDeployment; readonly bundle: Bundle },
  dependencies: ReconcileDependencies,
): boolean {
  const { lastApplied } = dependencies;
  if (lastApplied.hasBegun(deployment, bundle)) return true;
  const isKnown = lastApplied.get(deployment, active) !== undefined;
  return !isKnown && hasBegun(deployment, bundle, dependencies);
}

/**
 * Renders the target's stored content with the classes of Bundle and deployment; writes an error
 * into the status.
 */
export async function loadObjects(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  try {
    return await split(state, await render(state, dependencies, context), context);
  } catch (error) {
    // A waiting class or an error of another Bundle does not make this Bundle invalid.
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
 * True for errors that change nothing in the status. Core restores lost content by itself. A class
 * that waits is news, unless it has rendered the installed objects from the same inputs before.
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
 * The target's objects as last applied, independent of the present spec; undefined when this
 * process does not know them.
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

/** Separates the hooks of rendered objects; ends the reconcile when no class has rendered any. */
async function split(
  { target }: BundleDeploymentState,
  rendered: Rendered | undefined,
  { signal }: Pick<PhaseContext, 'signal'>,
): Promise<Found> {
  if (rendered === undefined) return { done: true };
  const { objects, hooks } = splitHooks(rendered.objects);
  const name = target?.metadata.name ?? '';
  const revision =
    hooks.length === 0 ? undefined : await revisionOf(name, { objects, hooks }, signal);
  return { recipe: rendered.recipe, objects, leftOut: rendered.leftOut, hooks, revision };
}

interface KnownRevision {
  readonly bundle: string;
  readonly revision: string;
}

/**
 * Keyed by the list of hooks, so that it is dropped with the objects; a deployment is reconciled
 * often.
 */
const known = new WeakMap<readonly KubernetesObject[], KnownRevision>();

/** Digest of the Bundle, its objects and its hooks. */
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

/** Digest of objects in their order, appended to the hash's earlier input. */
export async function digestOfAll(
  objects: readonly KubernetesObject[],
  hash: Pick<Hash, 'digest'> & { update(text: string): unknown },
  signal: AbortSignal,
): Promise<string> {
  const turns = new Turns();
  for (const object of objects) {
    // CRDs alone may be megabytes: yield to other work.
    if (turns.isDue) {
      await turns.give();
      signal.throwIfAborted();
    }
    hash.update(digestOf(object));
  }
  return hash.digest('base64url');
}
