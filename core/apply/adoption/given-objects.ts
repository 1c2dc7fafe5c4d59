import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { Inventory, InventoryEntry, InventoryListener } from '../inventory/inventory.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { handsOverTo } from '../ownership/adoption-level.ts';

export interface GivenObjectsOptions {
  readonly inventory: Inventory;
  readonly notify: (owner: string) => void;
  /** Hears everything as well, after this one. */
  readonly next: InventoryListener;
}

/**
 * Objects that deployments still have in their bundles, and that others have taken with their
 * consent. Wakes the giver once one is gone, or goes to somebody else: it is the giver's turn then.
 */
export class GivenObjects implements InventoryListener {
  readonly #options: GivenObjectsOptions;
  /** By giver: object to taker. */
  readonly #given = new Map<string, ReadonlyMap<string, string>>();

  constructor(options: GivenObjectsOptions) {
    this.#options = options;
  }

  /** The objects of a set that a deployment the owner hands over to has by now, by object. */
  find(owner: BundleDeployment, objects: readonly DesiredObject[]): ReadonlySet<DesiredObject> {
    const takers = new Set(handsOverTo(owner));
    if (takers.size === 0) return new Set();
    const given = objects.filter((object) => takers.has(this.#ownerOf(object)));
    return new Set(given);
  }

  /** Watches over these from now on, and over no others of the owner's. */
  keep(ownerName: string, given: ReadonlySet<DesiredObject>): void {
    if (given.size === 0) {
      this.#given.delete(ownerName);
      return;
    }
    const takers = [...given].map((object) => [object.id, this.#ownerOf(object)] as const);
    this.#given.set(ownerName, new Map(takers));
  }

  forget(ownerName: string): void {
    this.#given.delete(ownerName);
  }

  changed(entry: InventoryEntry): void {
    this.#options.next.changed(entry);
    for (const [giver, given] of this.#given) {
      if ((given.get(entry.id) ?? entry.owner) !== entry.owner) this.#options.notify(giver);
    }
  }

  removed(entry: InventoryEntry): void {
    this.#options.next.removed(entry);
    this.left(entry);
  }

  /** The taker has made it nobody's, of which the inventory tells nothing. */
  left(entry: Pick<InventoryEntry, 'id'>): void {
    for (const [giver, given] of this.#given) {
      if (given.has(entry.id)) this.#options.notify(giver);
    }
  }

  #ownerOf({ resource, key }: DesiredObject): string {
    return this.#options.inventory.get(resource, key)?.owner ?? '';
  }
}
