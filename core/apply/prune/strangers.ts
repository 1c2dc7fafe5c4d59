import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation, label } from '../../../api/v1alpha1/labels.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { isKept } from '../objects/desired.ts';
import { belongsTo, controllerOf } from '../objects/owner-marks.ts';
import { objectEvents } from '../write/deletions.ts';

interface StrangersOptions {
  readonly inventory: Inventory;
  readonly events: EventSink;
}

/** Objects with a deployment's labels that core did not make for it. */
export class Strangers {
  readonly #options: StrangersOptions;
  readonly #told = new Set<string>();

  constructor(options: StrangersOptions) {
    this.#options = options;
  }

  /**
   * Reports them once per process, because somebody may wait for their deletion. Skips objects with
   * another controller, which are copies by that controller (such as an EndpointSlice of a Service),
   * and kept objects. For wanted objects the apply reports the owner.
   */
  tell(owner: BundleDeployment, wanted: ReadonlySet<string> = new Set()): void {
    const { inventory, events } = this.#options;
    const fresh = inventory.ownedBy(owner.metadata.name ?? '').filter(({ id, object }) => {
      if (belongsTo(object, owner) || controllerOf(object) !== undefined) return false;
      if (isKept(object)) return false;
      return !wanted.has(id) && !this.#told.has(nameAndUID(object.metadata));
    });
    for (const { object } of fresh) this.#told.add(nameAndUID(object.metadata));
    for (const event of objectEvents(fresh, { reason: 'ObjectNotOwned', message })) {
      events.event(owner, { ...event, type: 'Warning' });
    }
  }
}

function message(list: string): string {
  return (
    `${list} has the labels of this BundleDeployment, but core did not make it for this one ` +
    `(annotation ${annotation.trackingID}), and never deletes it. Delete it if it is not needed; ` +
    `else remove its label ${label.ownerName}`
  );
}

function nameAndUID({ uid = '', name = '' }: { readonly uid?: string; readonly name?: string }) {
  return `${uid}/${name}`;
}
