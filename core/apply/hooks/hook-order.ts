import type { KubernetesObject } from '../../../api/meta.ts';
import { gvkOf } from '../../platform/kube/index.ts';
import { inKindOrder } from '../objects/order.ts';
import { type HookEvent, hookOf } from './hook.ts';

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
