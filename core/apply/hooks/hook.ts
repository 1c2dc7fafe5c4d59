import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { mapOf } from '../fields/json-fields.ts';

/** When hooks run, in the order of a deployment's life. */
export const hookEvents = [
  'pre-install',
  'post-install',
  'pre-upgrade',
  'post-upgrade',
  'pre-delete',
  'post-delete',
] as const;

/** When the object of a hook is deleted. */
const hookDeletePolicies = ['before-hook-creation', 'hook-succeeded', 'hook-failed'] as const;

export type HookEvent = (typeof hookEvents)[number];
export type HookDeletePolicy = (typeof hookDeletePolicies)[number];

/** What an object says about itself that is a hook. */
export interface Hook {
  readonly events: readonly HookEvent[];
  /** Lower ones run first. */
  readonly weight: number;
  readonly policies: readonly HookDeletePolicy[];
}

/** With no more digits than a number holds exactly. */
const wholeNumber = /^[+-]?\d{1,15}$/;

/** True for an object of a bundle that is created at its time, and not kept. */
export function isHook({ metadata }: KubernetesObject): boolean {
  return Object.hasOwn(mapOf(metadata?.annotations), annotation.hook);
}

/** True for a live object that a run of a hook has made, and nobody has applied since. */
export function isHookObject({ metadata }: KubernetesObject): boolean {
  return Object.hasOwn(mapOf(metadata.annotations), annotation.hookRun);
}

/** Which run of a hook a live object is of. */
export function hookRunOf(object: KubernetesObject): string {
  return textOf(object, annotation.hookRun);
}

/** The same for all tries of a run. */
export function isOfRun(object: KubernetesObject, run: string): boolean {
  return `${hookRunOf(object)} `.startsWith(`${run} `);
}

/** What `hookProblem` finds fault with does not count. */
export function hookOf(object: KubernetesObject): Hook {
  const weight = textOf(object, annotation.hookWeight);
  const policies = listed(object, annotation.hookDeletePolicy).filter(isPolicy);
  return {
    events: listed(object, annotation.hook).filter(isEvent),
    weight: wholeNumber.test(weight) ? Number(weight) : 0,
    // As Helm: whoever names none gets rid of the earlier object only.
    policies: policies.length === 0 ? ['before-hook-creation'] : policies,
  };
}

/** Says what is wrong with the annotations of a hook; undefined where all is well, or it is none. */
export function hookProblem(object: KubernetesObject): string | undefined {
  if (!isHook(object)) return undefined;
  const events = listed(object, annotation.hook);
  if (events.length === 0 || !events.every(isEvent)) {
    return wrong(object, annotation.hook, `a list of ${hookEvents.join(', ')}`);
  }
  if (!listed(object, annotation.hookDeletePolicy).every(isPolicy)) {
    return wrong(object, annotation.hookDeletePolicy, `a list of ${hookDeletePolicies.join(', ')}`);
  }
  const weight = mapOf(object.metadata.annotations)[annotation.hookWeight];
  if (weight === undefined || wholeNumber.test(textOf(object, annotation.hookWeight))) {
    return undefined;
  }
  return wrong(object, annotation.hookWeight, 'a whole number in quotes, such as "5" or "-1"');
}

function wrong({ metadata }: KubernetesObject, key: string, wanted: string): string {
  const shown = (JSON.stringify(mapOf(metadata.annotations)[key]) ?? '').slice(0, 100);
  return `annotation ${key} is ${shown}: it must be ${wanted}`;
}

function listed(object: KubernetesObject, key: string): readonly string[] {
  return textOf(object, key)
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function textOf({ metadata }: KubernetesObject, key: string): string {
  const text = mapOf(metadata.annotations)[key];
  return typeof text === 'string' ? text.trim() : '';
}

function isEvent(text: string): text is HookEvent {
  return (hookEvents as readonly string[]).includes(text);
}

function isPolicy(text: string): text is HookDeletePolicy {
  return (hookDeletePolicies as readonly string[]).includes(text);
}
