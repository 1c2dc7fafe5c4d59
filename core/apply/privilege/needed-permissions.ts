import type { InventoryEntry } from '../inventory/inventory.ts';
import type { PlannedObject } from '../objects/planned.ts';
import { type Permission, permissionsOn } from './permission.ts';

/**
 * The watches are the core's, and all deployments share them. What they show of a deployment's
 * objects is shown to it, so that it needs the permission to see it.
 */
const watchVerbs = ['list', 'watch'] as const;

const changeVerbs = ['get', 'patch', ...watchVerbs] as const;
const deleteVerbs = ['delete', 'get', ...watchVerbs] as const;

/**
 * Everything that may be done to an object from its installation to its deletion. Server-side apply
 * is a patch that may create, and what was created is taken back where an install is refused.
 */
export const lifetimeVerbs = ['create', 'delete', 'get', 'patch', ...watchVerbs] as const;

export interface PlannedWork {
  readonly pending: readonly PlannedObject[];
  /** What will be deleted. */
  readonly superfluous: readonly Pick<InventoryEntry, 'resource' | 'key'>[];
  /** What is as it should be: nothing is done to it now, and may have to be at any time. */
  readonly kept?: readonly Pick<InventoryEntry, 'resource' | 'key'>[];
  /** What will be created, and deleted, when its time comes. */
  readonly hooks?: readonly Pick<InventoryEntry, 'resource' | 'key'>[];
}

/** What it takes to carry out a plan, for each object. */
export function neededPermissions({
  pending,
  superfluous,
  kept = [],
  hooks = [],
}: PlannedWork): readonly Permission[] {
  return [
    ...pending.flatMap(({ desired, live }) =>
      permissionsOn(desired, live === undefined ? lifetimeVerbs : changeVerbs),
    ),
    ...superfluous.flatMap((entry) => permissionsOn(entry, deleteVerbs)),
    ...kept.flatMap((entry) => permissionsOn(entry, lifetimeVerbs)),
    ...hooks.flatMap((hook) => permissionsOn(hook, lifetimeVerbs)),
  ];
}
