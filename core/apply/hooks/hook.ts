import { gvkOf } from '../../../api/gvk.ts';
import { mapOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { inKindOrder } from '../objects/order.ts';

/** Events at which hooks run, in the order of a deployment's life. */
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

/** The annotations of a hook. */
interface Hook {
  readonly events: readonly HookEvent[];
  /** Lower ones run first. */
  readonly weight: number;
  readonly policies: readonly HookDeletePolicy[];
}

/** At most as many digits as a number holds exactly. */
const wholeNumber = /^[+-]?\d{1,15}$/;

/** True for a bundle's object that runs as a hook, and is not kept. */
export function isHook({ metadata }: KubernetesObject): boolean {
  return Object.hasOwn(mapOf(metadata?.annotations), annotation.hook);
}

/** The run that created a hook's live object. */
export function hookRunOf(object: KubernetesObject): string {
  return textOf(object, annotation.hookRun);
}

/** The Bundle of a hook's live object; empty for one of an earlier version of core. */
export function hookBundleOf(object: KubernetesObject): string {
  return textOf(object, annotation.hookBundle);
}

/** True for every attempt of a run. */
export function isOfRun(object: KubernetesObject, run: string): boolean {
  return `${hookRunOf(object)} `.startsWith(`${run} `);
}

/** Ignores annotations that `hookProblem` reports. */
export function hookOf(object: KubernetesObject): Hook {
  const weight = textOf(object, annotation.hookWeight);
  const policies = listed(object, annotation.hookDeletePolicy).filter(isPolicy);
  return {
    events: listed(object, annotation.hook).filter(isEvent),
    weight: wholeNumber.test(weight) ? Number(weight) : 0,
    // As in Helm: without a policy only the earlier object is deleted.
    policies: policies.length === 0 ? ['before-hook-creation'] : policies,
  };
}

/**
 * The problem of a hook's annotations; undefined when they are valid, or when the object has none.
 */
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

/** The hooks of an event in Helm's documented order: by weight, then by kind, then by name. */
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

/** The objects that a class rendered, and its hooks. */
export interface SplitObjects {
  /** Objects that core applies and keeps in place. */
  readonly objects: readonly KubernetesObject[];
  /** Objects that core creates when their event comes. */
  readonly hooks: readonly KubernetesObject[];
}

const known = new WeakMap<readonly KubernetesObject[], SplitObjects>();

/** Separates hooks from other objects; one list always splits into the same two lists. */
export function splitHooks(rendered: readonly KubernetesObject[]): SplitObjects {
  if (!rendered.some(isHook)) return { objects: rendered, hooks: [] };
  const split = known.get(rendered) ?? {
    objects: rendered.filter((object) => !isHook(object)),
    hooks: rendered.filter(isHook),
  };
  known.set(rendered, split);
  return split;
}
