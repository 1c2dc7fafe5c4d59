import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { annotation, label } from '../../api/v1alpha1/labels.ts';
import type { EngineParts } from './engine-parts.ts';
import { isKept } from './objects/desired.ts';
import { belongsTo } from './ownership/belonging.ts';
import { controllerOf } from './ownership/ownership.ts';
import { objectEvents } from './writes/object-events.ts';

/**
 * Tells, once in the life of the process, of objects that bear a deployment's labels and that core
 * did not make for it: somebody may wait for their deletion. What others control is a copy by its
 * controller, such as an EndpointSlice of a Service, and no news; nor is what is kept anyway.
 */
export function tellStrangers({
  parts: { inventory, strangers, options },
  owner,
  wanted,
}: {
  readonly parts: EngineParts;
  readonly owner: BundleDeployment;
  /** IDs of what the owner is to have: of that an apply says whose it is. */
  readonly wanted?: ReadonlySet<string>;
}): void {
  const { name = '' } = owner.metadata;
  const fresh = inventory.ownedBy(name).filter(({ id, object }) => {
    if (belongsTo(object, owner) || controllerOf(object) !== undefined) return false;
    if (isKept(object)) return false;
    return wanted?.has(id) !== true && !strangers.has(identity(object.metadata));
  });
  for (const { object } of fresh) strangers.add(identity(object.metadata));
  for (const event of objectEvents(fresh, { reason: 'ObjectNotOwned', message })) {
    options.events.event(owner, { ...event, type: 'Warning' });
  }
}

function message(list: string): string {
  return (
    `${list} has the labels of this BundleDeployment, but core did not make it for this one ` +
    `(annotation ${annotation.trackingID}), and never deletes it. If nobody needs it, delete it; ` +
    `else remove its label ${label.ownerName}`
  );
}

function identity({ uid = '', name = '' }: { readonly uid?: string; readonly name?: string }) {
  return `${uid}/${name}`;
}
