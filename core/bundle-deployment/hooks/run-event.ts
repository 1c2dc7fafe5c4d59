import { parseDuration } from '../../../api/duration.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { HookRun } from '../../../api/v1alpha1/deployment-progress.ts';
import { hookOf, isTransient } from '../../apply/index.ts';
import type { HookProgress } from '../../contracts/hooks.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import { type BundleDeploymentState, longestWait, type Surroundings } from '../phase.ts';
import {
  begun,
  behindText,
  changingText,
  type DueHook,
  failed,
  failureText,
  type HookOccasion,
  hookText,
  lateText,
  pauseAfter,
  pauseBefore,
  replacingText,
  runName,
  runningText,
  runOf,
  succeeded,
  withProblem,
  withRun,
} from './hook-run.ts';

/** The default of Helm's --timeout. */
const defaultTimeLimit = 300_000;
/** Milliseconds until core checks again for an obstacle that no watch may report. */
const replacingInterval = 5_000;
/** Milliseconds until core looks for the first time why the pod of a hook is not ready. */
const firstLook = 10_000;

export interface HookEventRequest extends HookOccasion {
  /** The hooks of the event, in their order. */
  readonly hooks: readonly KubernetesObject[];
}

/**
 * The result of an event, with the status if it changed. `noted`: write the status before doing
 * anything else.
 */
export type HookEventState = { readonly status?: BundleDeploymentStatus } & (
  | { readonly state: 'done' }
  | { readonly state: 'noted' }
  | { readonly state: 'waiting'; readonly message: string }
  | { readonly state: 'failed'; readonly message: string; readonly retryAfter: number }
);

/**
 * Runs the hooks of an event one after the other, as far as possible without waiting. Core writes
 * each start and each success into the status before the next step: a process that ends at any
 * point neither skips a hook nor runs one twice.
 */
export async function runEvent(
  state: BundleDeploymentState,
  request: HookEventRequest,
  surroundings: Surroundings,
): Promise<HookEventState> {
  const { clock } = surroundings.dependencies;
  const run = runOf(state.status, request);
  if (run === undefined) {
    const pause = pauseBefore(state.status, request, clock.now());
    if (pause > 0) {
      surroundings.context.wakeAfter(pause);
      return { state: 'waiting', message: changingText(request, pause) };
    }
    const beginning = begun(request, clock.now());
    surroundings.context.live.durations.begin('hook', beginning.startedAt, clock);
    return { state: 'noted', status: withRun(state.status, beginning) };
  }
  const { hooks } = request;
  const hook = hooks[run.completed];
  if (hook === undefined) {
    await removeAll(state, request, { run, surroundings });
    return { state: 'done' };
  }
  const pause = pauseAfter(run, clock.now());
  if (pause > 0) return { state: 'failed', message: failureText(state, run), retryAfter: pause };
  const name = runName(run, hooks, run.completed);
  return await runNext(state, { hook, run, name, count: hooks.length }, surroundings);
}

async function runNext(
  state: BundleDeploymentState,
  next: DueHook,
  surroundings: Surroundings,
): Promise<HookEventState> {
  const { dependencies, context } = surroundings;
  const { hook, run } = next;
  const { deployment: owner } = state;
  const progress = inTime(await begin(state, next, surroundings), { state, next }, surroundings);
  if (progress.state === 'failed') {
    return await fail(state, { ...next, reason: progress.reason }, surroundings);
  }
  if (progress.state === 'replacing') {
    context.wakeAfter(replacingInterval);
    return { state: 'waiting', message: replacingText(run, hook) };
  }
  if (progress.state === 'behind') {
    const next = `${hookText(run, hook)} starts`;
    return { state: 'waiting', message: behindText(next, progress.other, timeLimit(state)) };
  }
  if (progress.state === 'running') {
    const message = runningText(next, { ...progress, limit: timeLimit(state) });
    return { state: 'waiting', message };
  }
  const message = `${hookText(run, hook)} has succeeded`;
  dependencies.events.event(owner, { type: 'Normal', reason: 'HookSucceeded', message });
  return { state: 'noted', status: withRun(state.status, succeeded(run)) };
}

/** The server's refusal may not name the object. */
async function begin(
  { deployment: owner, target }: BundleDeploymentState,
  { hook, run, name }: DueHook,
  { dependencies: { applier }, context: { signal } }: Surroundings,
): Promise<HookProgress> {
  try {
    const bundle = target?.metadata.name ?? '';
    return await applier.runHook({ owner, hook, run: name, bundle, signal });
  } catch (error) {
    if (signal.aborted || error instanceof TerminalError) throw error;
    const message = `${hookText(run, hook)} cannot be created: ${errorMessage(error)}`;
    throw isTransient(error)
      ? new Error(message, { cause: error })
      : new TerminalError(message, { cause: error });
  }
}

/**
 * Fails a hook that does not start or end in its time; otherwise wakes the deployment when the time
 * ends.
 */
function inTime(
  progress: HookProgress,
  { state, next }: { readonly state: BundleDeploymentState; readonly next: DueHook },
  { dependencies: { clock }, context }: Surroundings,
): HookProgress {
  if (progress.state !== 'running' && progress.state !== 'behind') return progress;
  const limit = timeLimit(state);
  const { run, name } = next;
  const isBehind = progress.state === 'behind';
  const since = isBehind ? run.retryAt : progress.since;
  // The API server's clock may be behind; the object may have had to wait for an earlier one.
  const startedAt = Math.max(Date.parse(run.startedAt), Date.parse(since ?? '') || 0);
  const id = `${name}/${run.completed}${isBehind ? '/behind' : ''}`;
  const hook = { id, whole: run.startedAt, startedAt };
  const passed = context.live.durations.of('hook', hook, clock);
  const left = limit - passed;
  if (left <= 0) return { state: 'failed', reason: lateReason(progress, limit) };
  // The watch may not tell of the other hook's end, and tells nothing of a hook's pod.
  context.wakeAfter(Math.min(left, isBehind || passed >= firstLook ? longestWait : firstLook));
  return progress;
}

function lateReason(
  progress: Extract<HookProgress, { state: 'running' | 'behind' }>,
  limit: number,
): string {
  return progress.state === 'behind'
    ? `it could not start: ${lateText(progress.other, limit)}`
    : `it was not done within ${limit / 1000} s${withProblem(progress.problem)}`;
}

async function fail(
  state: BundleDeploymentState,
  { hook, run, name, reason }: DueHook & { readonly reason: string },
  { dependencies, context }: Surroundings,
): Promise<HookEventState> {
  const { applier, clock } = dependencies;
  const { deployment: owner } = state;
  if (hookOf(hook).policies.includes('hook-failed')) {
    await applier.removeHook({ owner, hook, run: name, signal: context.signal });
  }
  const now = clock.now();
  const after = failed(run, `${hookText(run, hook)} has failed: ${reason}`, now);
  const status = withRun(state.status, after);
  const retryAfter = Date.parse(after.retryAt ?? '') - now;
  return { state: 'failed', message: failureText(state, after), retryAfter, status };
}

/**
 * As in Helm, the objects go only after all hooks of the event have succeeded. From then on, a Job
 * may be collected by Kubernetes, too.
 */
async function removeAll(
  { deployment: owner }: BundleDeploymentState,
  { hooks }: HookEventRequest,
  { run, surroundings }: { readonly run: HookRun; readonly surroundings: Surroundings },
): Promise<void> {
  const { applier } = surroundings.dependencies;
  const { signal } = surroundings.context;
  for (const [index, hook] of hooks.entries()) {
    const request = { owner, hook, run: runName(run, hooks, index), signal };
    const isRemoved = hookOf(hook).policies.includes('hook-succeeded');
    await (isRemoved ? applier.removeHook(request) : applier.expireHook(request));
  }
}

function timeLimit({ deployment: { spec } }: BundleDeploymentState): number {
  return parseDuration(spec.health?.progressDeadline ?? '') ?? defaultTimeLimit;
}
