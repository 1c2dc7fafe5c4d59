import { gvkOf } from '../../../api/gvk.ts';
import { mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { inKindOrder } from '../objects/order.ts';

/** When hooks run, in the order of a deployment's life. */
const hookEvents = [
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
type HookDeletePolicy = (typeof hookDeletePolicies)[number];

/** What an object says about itself that is a hook. */
interface Hook {
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

/**
 * The hooks of an event in the order in which they run, as Helm documents it: by weight, then by
 * kind, then by name.
 */
export function hooksOf(
  event: HookEvent,
  hooks: readonly KubernetesObject[],
): readonly KubernetesObject[] {
  const items = hooks
    .map((object) => ({ object, resource: gvkOf(object), ...hookOf(object) }))
    .filter(({ events }) => events.includes(event));
  return [...Map.groupBy(items, ({ weight }) => weight)]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([, group]) => inKindOrder(group).flatMap((kind) => kind.toSorted(byName)))
    .map(({ object }) => object);
}

interface Named {
  readonly object: KubernetesObject;
}

function byName(a: Named, b: Named): number {
  const [left, right] = [nameOf(a), nameOf(b)];
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function nameOf({ object: { metadata } }: Named): string {
  return `${metadata.name ?? ''} ${metadata.namespace ?? ''}`;
}

/** What a class has rendered, apart by what becomes of it. */
export interface SplitObjects {
  /** To be applied and kept so. */
  readonly objects: readonly KubernetesObject[];
  /** To be created when their time comes. */
  readonly hooks: readonly KubernetesObject[];
}

const known = new WeakMap<readonly KubernetesObject[], SplitObjects>();

/** Tells hooks from the rest; one list is always split into the same two lists. */
export function splitHooks(rendered: readonly KubernetesObject[]): SplitObjects {
  if (!rendered.some(isHook)) return { objects: rendered, hooks: [] };
  const split = known.get(rendered) ?? {
    objects: rendered.filter((object) => !isHook(object)),
    hooks: rendered.filter(isHook),
  };
  known.set(rendered, split);
  return split;
}
