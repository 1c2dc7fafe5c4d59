import { annotation } from '../../../api/v1alpha1/labels.ts';
import type { KubernetesObject } from '../../../core/sdk.ts';
import type { HookEvent, RenderedHook } from '../engine/index.ts';
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

/** The objects of a hook, told to core in its own words; none where it is for no event of ours. */
export function hookObjects(hook: RenderedHook, maxObjects: number): readonly KubernetesObject[] {
  const events = hook.events.filter((event) => served.has(event));
  if (events.length === 0) return [];
  // Helm's default.
  const policies =
    hook.deletePolicies.length === 0 ? ['before-hook-creation'] : hook.deletePolicies;
  return fileObjects(hook, maxObjects).map((object) =>
    annotated(object, {
      [annotation.hook]: events.join(','),
      [annotation.hookWeight]: String(hook.weight),
      [annotation.hookDeletePolicy]: policies.join(','),
    }),
  );
}
