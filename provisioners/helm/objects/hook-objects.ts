import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { KubernetesObject } from '../../../core/sdk.ts';
import type { HookDeletePolicy, HookEvent, RenderedHook } from '../engine/index.ts';
import { annotated } from './annotated.ts';
import { fileObjects } from './file-objects.ts';

/**
 * What core runs. A rollback here is an upgrade to an earlier Bundle, with the upgrade hooks of that
 * one; tests are for `helm test`, which there is no release for.
 */
const served: ReadonlySet<HookEvent> = new Set<HookEvent>([
  'pre-install',
  'post-install',
  'pre-upgrade',
  'post-upgrade',
  'pre-delete',
  'post-delete',
]);

/** Helm takes whatever a chart writes, and acts on these. */
const known: ReadonlySet<HookDeletePolicy> = new Set<HookDeletePolicy>([
  'before-hook-creation',
  'hook-succeeded',
  'hook-failed',
]);

/** The objects of a hook, told to core in its own words; none where it is for no event of ours. */
export function hookObjects(hook: RenderedHook, maxObjects: number): readonly KubernetesObject[] {
  const events = hook.events.filter((event) => served.has(event));
  if (events.length === 0) return [];
  const named = hook.deletePolicies.filter((policy) => known.has(policy));
  // Helm's default.
  const policies = named.length === 0 ? ['before-hook-creation'] : named;
  return fileObjects(hook, maxObjects).map((object) =>
    annotated(object, {
      [annotation.hook]: events.join(','),
      [annotation.hookWeight]: String(hook.weight),
      [annotation.hookDeletePolicy]: policies.join(','),
    }),
  );
}
