import { gvkOf } from '../../../api/gvk.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeploymentStatus } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { HookRun } from '../../../api/v1alpha1/deployment-progress.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { type HookEvent, hookOf, objectPath } from '../../apply/index.ts';
import type { RunningHook } from '../../contracts/hooks.ts';
import { conditionMessage } from '../../platform/runtime/index.ts';
import type { BundleDeploymentState } from '../phase.ts';

/** Hook runs in status.hooks. All functions here are pure. */

const longestFailure = 1_000;
const hanging = 'Core does not end it: if it hangs, delete it';
const beginningInterval = 5_000;
const backoff = { least: 10_000, most: 600_000 } as const;

/** An event of one set of objects. */
export interface HookOccasion {
  readonly event: HookEvent;
  readonly revision: string;
}

/** The run of an occasion; undefined before it starts. */
export function runOf(
  { hooks }: BundleDeploymentStatus,
  { event, revision }: HookOccasion,
): HookRun | undefined {
  const run = hooks?.run;
  return run?.event === event && run.revision === revision ? run : undefined;
}

export function withRun(status: BundleDeploymentStatus, run: HookRun): BundleDeploymentStatus {
  return { ...status, hooks: { ...status.hooks, run } };
}

/** `now` is in milliseconds. */
export function begun({ event, revision }: HookOccasion, now: number): HookRun {
  return { event, revision, startedAt: new Date(now).toISOString(), completed: 0 };
}

/**
 * Milliseconds to wait before the hooks of an occasion start: more than 0 when hooks of the same
 * event started just now and none has completed. Otherwise a class that renders something else at
 * every call would restart them without end.
 */
export function pauseBefore(
  { hooks }: BundleDeploymentStatus,
  { event }: HookOccasion,
  now: number,
): number {
  const { run } = hooks ?? {};
  if (run?.event !== event || run.completed > 0 || run.failures !== undefined) return 0;
  return pauseUntil(Date.parse(run.startedAt) + beginningInterval, now, beginningInterval);
}

/** Milliseconds until the next hook may be retried; 0 when it may run now. */
export function pauseAfter({ retryAt }: HookRun, now: number): number {
  return retryAt === undefined ? 0 : pauseUntil(Date.parse(retryAt), now, backoff.most);
}

/** A time later than the longest pause was written by a clock that was ahead. */
function pauseUntil(time: number, now: number, longest: number): number {
  const pause = Math.max(time - now, 0);
  return pause > longest ? 0 : pause;
}

/** The run with one more completed hook. */
export function succeeded({ event, revision, startedAt, completed }: HookRun): HookRun {
  return { event, revision, startedAt, completed: completed + 1 };
}

/** The run with one more failure of the next hook; each failure makes the pause longer. */
export function failed(run: HookRun, failure: string, now: number): HookRun {
  const { failures = 0 } = run;
  const pause = Math.min(backoff.least * 2 ** failures, backoff.most);
  return {
    ...run,
    failures: failures + 1,
    failure: conditionMessage(failure).slice(0, longestFailure).toWellFormed(),
    retryAt: new Date(now + pause).toISOString(),
  };
}

/**
 * The name of one run of a hook, for its annotation. A retry has another name, and so has each
 * further hook of the event with the same kind and name, which must not be taken for the first.
 */
export function runName(
  { event, startedAt, failures = 0 }: HookRun,
  hooks: readonly KubernetesObject[],
  index: number,
): string {
  const turn = turnOf(hooks, index);
  const name = turn === 1 ? `${event} ${startedAt}` : `${event} ${startedAt}#${turn}`;
  return failures === 0 ? name : `${name} ${failures}`;
}

/** 1 for the first hook of its kind and name, 2 for the next one. */
function turnOf(hooks: readonly KubernetesObject[], index: number): number {
  const hook = hooks[index];
  if (hook === undefined) return 1;
  return 1 + hooks.slice(0, index).filter((earlier) => isNamesake(earlier, hook)).length;
}

/** Of any namespace: a hook that names none may be in that of another. */
function isNamesake(a: KubernetesObject, b: KubernetesObject): boolean {
  return (
    a.metadata.name === b.metadata.name && a.kind === b.kind && gvkOf(a).group === gvkOf(b).group
  );
}

type DoneState = Pick<
  BundleDeploymentState,
  'status' | 'hooks' | 'revision' | 'bundle' | 'target' | 'kept'
>;

/** The status after the target is completely applied and its hooks have run. */
export function withHooksDone(state: DoneState): BundleDeploymentStatus {
  const { hooks: _, ...status } = state.status;
  const { hooks = [], revision: applied = '' } = state;
  const run = pendingRun(state);
  const pending = run && { run };
  if (hooks.length === 0) return pending === undefined ? status : { ...status, hooks: pending };
  const onDelete = hooks.filter((hook) => hookOf(hook).events.some(isAtDeletion)).length;
  return { ...status, hooks: { applied, ...(onDelete > 0 && { onDelete }), ...pending } };
}

/**
 * The run of the content that the deployment asks for, while other content stands in for it: its
 * completed hooks must not run twice. A rollback gives that content up.
 */
function pendingRun({ status, bundle, target, revision, kept }: DoneState): HookRun | undefined {
  const isOther = target !== bundle || kept === true;
  const { hooks, rollback } = status;
  if (!isOther || rollback !== undefined || hooks?.run?.revision === revision) return undefined;
  return hooks?.run;
}

function isAtDeletion(event: HookEvent): boolean {
  return event === 'pre-delete' || event === 'post-delete';
}

/** `pre-install hook Job/shop/migrate` */
export function hookText(
  { event }: Pick<HookRun, 'event'>,
  { kind, metadata: { namespace, name = '' } }: KubernetesObject,
): string {
  return `${event} hook ${objectPath(kind, { namespace, name })}`;
}

/** The hook that is due, the name of its run, and the number of hooks of its event. */
export interface DueHook {
  readonly hook: KubernetesObject;
  readonly run: HookRun;
  readonly name: string;
  readonly count: number;
}

/** `limit` is in milliseconds. */
export function runningText(
  { hook, run, count }: DueHook,
  { since, problem, limit }: Omit<RunningHook, 'hook'> & { readonly limit: number },
): string {
  const which = count === 1 ? '' : ` (${run.completed + 1} of ${count})`;
  const seconds = `${limit / 1000} s${withProblem(problem)}`;
  return `waiting for ${hookText(run, hook)}${which}: running since ${since}, time limit ${seconds}`;
}

/** `next`: what waits for the other hook, as a clause. `limit`, if any, is in milliseconds. */
export function behindText(
  next: string,
  { hook, since, problem }: RunningHook,
  limit?: number,
): string {
  const within = limit === undefined ? '' : ` (time limit ${limit / 1000} s)`;
  const running = `running since ${since}${withProblem(problem)}`;
  return `waiting for ${hook}, ${running}, before ${next}${within}. ${hanging}`;
}

/** The end of the wait, as a clause. `limit` is in milliseconds. */
export function lateText({ hook, since, problem }: RunningHook, limit: number): string {
  const running = `running since ${since}${withProblem(problem)}`;
  return `${hook}, ${running}, did not end within ${limit / 1000} s. ${hanging}`;
}

/** Why the pod of a hook is not ready, after what is said of the hook. */
export function withProblem(problem: string | undefined): string {
  return problem === undefined ? '' : ` (${problem})`;
}

/** `pause` is in milliseconds. */
export function changingText({ event }: Pick<HookRun, 'event'>, pause: number): string {
  return `${event} hooks start in ${Math.ceil(pause / 1000)} s, because the content has just changed`;
}

export function replacingText(run: HookRun, hook: KubernetesObject): string {
  return `${hookText(run, hook)} waits until the object of an earlier run is deleted`;
}

/** Why a hook failed, and the remedies. */
export function failureText(
  { deployment }: Pick<BundleDeploymentState, 'deployment'>,
  { failure = '', retryAt = '' }: HookRun,
): string {
  return (
    `${failure}. Core retries it at ${retryAt}, or when the bundle or the config changes. ` +
    `To continue without hooks: ${skipCommand(deployment)}`
  );
}

export function skipCommand({ metadata }: KubernetesObject): string {
  return `kubectl annotate bundledeployment ${metadata.name} ${annotation.skipHooks}=true`;
}
