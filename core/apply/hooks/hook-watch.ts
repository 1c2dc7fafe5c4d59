import { gvkOf } from '../../../api/gvk.ts';
import { fieldAt, integerAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { HookProgress } from '../../contracts/hooks.ts';
import { conditionOf, isTrue } from '../health/status.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { ObjectEvent, ObjectEventListener } from '../inventory/inventory.ts';
import type { GroupKind } from '../objects/object-id.ts';
import type { HookEnd, OwnerState } from '../state/owner-state.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import { hookRunOf } from './hook.ts';

/** Wakes owners that wait for a hook, when the hook ends and when its object is deleted. */
export class HookWatch implements ObjectEventListener {
  readonly #owners: OwnerStates;
  readonly #notify: (owner: string) => void;

  constructor(owners: OwnerStates, notify: (owner: string) => void) {
    this.#owners = owners;
    this.#notify = notify;
  }

  hear({ type, entry }: ObjectEvent): void {
    if (type === 'changed') this.#changed(entry);
    if (type !== 'removed') return;
    for (const { name, hook } of this.#owners.awaiting) {
      if (hook?.id === entry.id && hook.told !== true) this.#notify(name);
    }
  }

  #changed({ id, owner, object }: InventoryEntry): void {
    const hook = this.#owners.find(owner)?.hook;
    if (hook?.id !== id || hook.told === true) return;
    const outcome = hookOutcome(object);
    if (outcome.state === 'running') return;
    if (hookRunOf(object) === hook.run) hook.ended = outcome;
    this.#notify(owner);
  }
}

/**
 * Makes the owner wait for this run instead of any other hook; returns how the run ended, if it
 * has.
 */
export function awaitHook(state: OwnerState, id: string, run: string): HookEnd | undefined {
  const { hook } = state;
  if (hook?.id === id && hook.run === run) return hook.ended;
  state.hook = { id, run };
  return undefined;
}

/** Records that the owner knows how its hook ended: later events of the object are not news. */
export function noteHookEnd(state: OwnerState, ended: HookEnd): void {
  if (state.hook !== undefined) state.hook = { ...state.hook, ended, told: true };
}

/** The state of a hook's object. */
type HookOutcome =
  | { readonly state: 'running' }
  | { readonly state: 'succeeded' }
  /** The reason, as a clause. */
  | { readonly state: 'failed'; readonly reason: string };

/** Jobs and Pods must complete; every other object is done once it exists. */
export function hookOutcome(object: KubernetesObject): HookOutcome {
  const gvk = gvkOf(object);
  if (!isRunnable(gvk)) return { state: 'succeeded' };
  return gvk.kind === 'Job' ? jobOutcome(object) : podOutcome(object);
}

/** The same, and since when it runs. */
export function progressOf(object: KubernetesObject): HookProgress {
  const outcome = hookOutcome(object);
  if (outcome.state !== 'running') return outcome;
  return { state: 'running', since: object.metadata.creationTimestamp ?? '' };
}

/** Whether objects of the kind run until they end. */
export function isRunnable({ group, kind }: GroupKind): boolean {
  return (group === 'batch' && kind === 'Job') || (group === '' && kind === 'Pod');
}

function jobOutcome(job: KubernetesObject): HookOutcome {
  if (isTrue(job, 'Complete')) return { state: 'succeeded' };
  const failed = conditionOf(job, 'Failed');
  if (failed?.status !== 'True') return { state: 'running' };
  return { state: 'failed', reason: withReason(failed.message, failed.reason) };
}

function podOutcome({ status }: KubernetesObject): HookOutcome {
  const phase = stringAt(status, 'phase');
  if (phase === 'Succeeded') return { state: 'succeeded' };
  if (phase !== 'Failed') return { state: 'running' };
  const message = stringAt(status, 'message') ?? containerFailure(status) ?? 'the Pod has failed';
  return { state: 'failed', reason: withReason(message, stringAt(status, 'reason')) };
}

function containerFailure(status: unknown): string | undefined {
  for (const list of ['initContainerStatuses', 'containerStatuses']) {
    for (const container of listOf(fieldAt(status, list))) {
      const code = integerAt(container, 'state', 'terminated', 'exitCode') ?? 0;
      if (code === 0) continue;
      return `container ${stringAt(container, 'name') ?? ''} ended with exit code ${code}`;
    }
  }
  return undefined;
}

function withReason(message: string, reason = ''): string {
  if (message === '') return reason === '' ? 'its status gives no reason' : reason;
  return reason === '' ? message : `${message} (${reason})`;
}
