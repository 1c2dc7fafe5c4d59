import type { KubernetesObject } from '../../../api/meta.ts';
import { isHook } from './hook.ts';

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
