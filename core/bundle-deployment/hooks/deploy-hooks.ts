import type { KubernetesObject } from '../../../api/meta.ts';
import { progressReason } from '../../../api/v1alpha1/conditions.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { notedValue } from '../../../api/v1alpha1/rules/noted-value.ts';
import { type HookEvent, hooksOf } from '../../apply/index.ts';
import type { RememberedResult } from '../../contracts/applier.ts';
import type { ReconcileDependencies } from '../dependencies.ts';
import {
  type BundleDeploymentState,
  type Found,
  longestWait,
  mustNotBeTold,
  type PhaseContext,
  type Surroundings,
} from '../phase.ts';
import { isUnchanged } from '../rendering/applied-content.ts';
import { Beginning } from '../revisions/beginning.ts';
import { withBegun } from '../revisions/progress.ts';
import {
  failureReason,
  installFailure,
  notInstalled,
  notObserved,
  withGroupKinds,
} from '../status.ts';
import { behindText, hookText, runOf } from './hook-run.ts';
import { type HookEventRequest, type HookEventState, runEvent } from './run-event.ts';

/**
 * Waits for a hook of other content that still runs, such as that of an upgrade that was reverted or
 * rolled back: it may change the data that the target uses. Only the hook's own end or its deletion
 * ends the wait; after that the target has all its time.
 */
export async function awaitOtherRun(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const { run: begun } = state.status.hooks ?? {};
  if (begun === undefined || begun.revision === state.revision || skipsHooks(state)) return {};
  return await run(state, { dependencies, context }, async () => {
    const { deployment: owner, objects = [], hooks = [], target } = state;
    const named = [...hooks, ...objects].map(({ metadata: { namespace } }) => namespace);
    const namespaces = new Set(named.filter((namespace) => namespace !== undefined));
    const { signal, wakeAfter } = context;
    const other = await dependencies.applier.runningHook({ owner, namespaces, signal });
    if (other === undefined) return { state: 'done' };
    // The watch may not tell of its end.
    wakeAfter(longestWait);
    const next = `Bundle "${target?.metadata.name}" is applied`;
    return { state: 'waiting', message: behindText(next, other) };
  });
}

/**
 * Runs the hooks before an install or upgrade. Before the first one core checks the whole set, and
 * applies only its namespaces and CRDs, because hooks may need them.
 */
export async function runPreHooks(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const operation = pendingOperation(state);
  if (operation === undefined) return {};
  const request = requestOf(state, `pre-${operation}`);
  if (request.hooks.length === 0) return {};
  // The post hooks have started already.
  if (runOf(state.status, requestOf(state, `post-${operation}`)) !== undefined) return {};
  const surroundings = { dependencies, context };
  if (runOf(state.status, request) !== undefined) {
    const event = async () => await runEvent(state, request, surroundings);
    return { ...(await run(state, surroundings, event)), begun: true };
  }
  const begun = { ...state, status: withBegun(state, dependencies, context) };
  const found = await applyFoundation(begun, surroundings);
  if ('error' in found) return found;
  const founded = { ...begun, ...found };
  const event = async () => await runEvent(founded, request, surroundings);
  return { ...(await run(founded, surroundings, event)), begun: true };
}

/** Runs the hooks after all objects are applied; the Bundle counts as installed only afterwards. */
export async function runPostHooks(
  state: BundleDeploymentState,
  dependencies: ReconcileDependencies,
  context: PhaseContext,
): Promise<Found> {
  const operation = pendingOperation(state);
  if (operation === undefined) return {};
  const request = requestOf(state, `post-${operation}`);
  if (request.hooks.length === 0) return {};
  const surroundings = { dependencies, context };
  return await run(state, surroundings, async () => await runEvent(state, request, surroundings));
}

function requestOf(state: BundleDeploymentState, event: HookEvent): HookEventRequest {
  const hooks: readonly KubernetesObject[] = state.hooks ?? [];
  return { event, revision: state.revision ?? '', hooks: hooksOf(event, hooks) };
}

/** Applies namespaces and CRDs; the status has their kinds also after a failure. */
async function applyFoundation(
  state: BundleDeploymentState,
  { dependencies, context }: Surroundings,
): Promise<Pick<BundleDeploymentState, 'status'> & Pick<Found, 'error' | 'begun'>> {
  const { deployment: owner, objects = [], leftOut = [], hooks = [] } = state;
  const { signal } = context;
  const beginning = new Beginning(state, dependencies, context);
  const begin = async () => await beginning.note();
  let remembered: RememberedResult = {};
  const remember = (found: RememberedResult): void => {
    remembered = found;
  };
  const content = { owner, objects, leftOut, hooks };
  const request = { ...content, foundationOnly: true, remember, begin, signal };
  try {
    const { groupKinds } = await dependencies.applier.apply(request);
    return { status: withGroupKinds(beginning.status, groupKinds) };
  } catch (error) {
    if (mustNotBeTold(error, signal)) throw error;
    return beginning.failure(error, (status) => withGroupKinds(status, remembered.groupKinds));
  }
}

/** Writes the result of the event into the status. The last good Bundle stays active. */
async function run(
  state: BundleDeploymentState,
  { dependencies, context }: Surroundings,
  event: () => Promise<HookEventState>,
): Promise<Found> {
  try {
    const { status = state.status, ...result } = await event();
    return outcomeOf({ ...state, status }, result, dependencies);
  } catch (error) {
    if (mustNotBeTold(error, context.signal)) throw error;
    return installFailure(state, error, dependencies);
  }
}

function outcomeOf(
  state: BundleDeploymentState,
  result: HookEventState,
  { clock, reportHealth }: Pick<ReconcileDependencies, 'clock' | 'reportHealth'>,
): Found {
  const { status } = state;
  if (result.state === 'done') return { status };
  // The installed Bundle is not the wanted one yet, although no condition says so.
  if (result.state === 'noted') return { status: notObserved(state), requeueAfter: 0 };
  const { message } = result;
  if (result.state === 'waiting') {
    const waiting = { reason: progressReason.waitingForHook, message };
    return {
      blocked: state.blocked ?? waiting,
      status: notInstalled(status, { ...waiting, reportHealth }, clock),
      done: true,
    };
  }
  const failure = { reason: failureReason(state), message, reportHealth };
  return { status: notInstalled(status, failure, clock), requeueAfter: result.retryAfter };
}

type HookedState = Parameters<typeof isUnchanged>[0] &
  Pick<BundleDeploymentState, 'hooks' | 'revision'>;

/**
 * The operation whose hooks are due; undefined when core only keeps the last complete apply in
 * place, and for a rollback, which runs no install or upgrade hooks (as in Helm).
 */
function pendingOperation(state: HookedState): 'install' | 'upgrade' | undefined {
  const { status, hooks = [] } = state;
  if (hooks.length === 0 || skipsHooks(state)) return undefined;
  if ((status.activeBundle ?? '') === '') return firstOperation(state);
  return isWayBack(state) || isKept(state) ? undefined : 'upgrade';
}

/** A restore may lose the status, but not the annotation that core wrote on the deployment. */
function firstOperation({ deployment, revision }: HookedState): 'install' | 'upgrade' | undefined {
  const applied = notedValue(deployment.metadata, annotation.hooksApplied);
  if (applied === undefined) return 'install';
  return applied === revision ? undefined : 'upgrade';
}

/** Whether an annotation disables the deployment's hooks. */
export function skipsHooks({ deployment }: Pick<BundleDeploymentState, 'deployment'>): boolean {
  return deployment.metadata.annotations?.[annotation.skipHooks] === 'true';
}

function isWayBack({ status: { rollback }, target }: HookedState): boolean {
  return rollback !== undefined && rollback.to === target?.metadata.name;
}

function isKept(state: HookedState): boolean {
  const { applied, run } = state.status.hooks ?? {};
  if (applied !== undefined) return applied === state.revision;
  // A Bundle applied before core supported hooks has no record.
  return run === undefined && isUnchanged(state);
}

/** The hooks that would run if the target were rolled out now, in their order. */
export function plannedHooks(state: BundleDeploymentState): readonly string[] {
  const operation = pendingOperation(state);
  if (operation === undefined) return [];
  const events = [`pre-${operation}`, `post-${operation}`] as const;
  return events.flatMap((event) =>
    hooksOf(event, state.hooks ?? []).map((hook) => hookText({ event }, hook)),
  );
}
