import type { DesiredObject } from '../objects/desired.ts';

/** A namespace by its name. */
export type SharedNamespace = Pick<DesiredObject, 'id' | 'resource' | 'key'>;

/**
 * Namespaces that belong to one deployment, or to none, and are in the bundles of others as well. The
 * last one that goes deletes what core has made. Forgotten with the process: what is in a namespace
 * keeps it in any case.
 */
export class SharedNamespaces {
  readonly #byUser = new Map<string, ReadonlyMap<string, SharedNamespace>>();
  readonly #ending = new Set<string>();

  /** The owner uses exactly these from now on; returns those that it did not use before. */
  use<T extends SharedNamespace>(owner: string, namespaces: readonly T[]): readonly T[] {
    const before = this.#byUser.get(owner);
    this.#ending.delete(owner);
    this.#byUser.delete(owner);
    if (namespaces.length > 0) this.#byUser.set(owner, byID(namespaces));
    return namespaces.filter(({ id }) => before?.has(id) !== true);
  }

  /** The owner is being deleted: nothing is kept for it, and these were its own. */
  end(owner: string, own: readonly SharedNamespace[]): void {
    this.#ending.add(owner);
    this.#byUser.set(owner, new Map([...(this.#byUser.get(owner) ?? []), ...byID(own)]));
  }

  /** What the owner uses, and had when its deletion began. */
  of(owner: string): readonly SharedNamespace[] {
    return [...(this.#byUser.get(owner)?.values() ?? [])];
  }

  /** The deployments besides the owner that go on using a namespace. */
  usersBeside(owner: string, id: string): readonly string[] {
    const users = [...this.#byUser].filter(
      ([user, used]) => user !== owner && !this.#ending.has(user) && used.has(id),
    );
    return users.map(([user]) => user);
  }

  forget(owner: string): void {
    this.#byUser.delete(owner);
    this.#ending.delete(owner);
  }
}

function byID(namespaces: readonly SharedNamespace[]): ReadonlyMap<string, SharedNamespace> {
  return new Map(namespaces.map(({ id, resource, key }) => [id, { id, resource, key }]));
}
