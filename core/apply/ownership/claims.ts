/**
 * Which deployment has an object, before the API server knows it: two that start at once cannot
 * both find an object free.
 */
export class Claims {
  readonly #ownerByID = new Map<string, string>();
  readonly #idsByOwner = new Map<string, Set<string>>();
  readonly #settled = new Set<string>();

  /** Who else holds an object; undefined where it is free or the owner's own. */
  otherHolder(id: string, owner: string): string | undefined {
    const holder = this.#ownerByID.get(id);
    return holder === owner ? undefined : holder;
  }

  /** Takes every free object of these; returns those that were not the owner's before. */
  take(ids: Iterable<string>, owner: string): string[] {
    const held = this.#idsByOwner.get(owner) ?? new Set<string>();
    this.#idsByOwner.set(owner, held);
    const taken: string[] = [];
    for (const id of ids) {
      if (this.#ownerByID.has(id)) continue;
      this.#ownerByID.set(id, owner);
      held.add(id);
      taken.push(id);
    }
    return taken;
  }

  release(ids: Iterable<string>, owner: string): void {
    const held = this.#idsByOwner.get(owner);
    for (const id of ids) {
      if (held?.delete(id)) this.#ownerByID.delete(id);
    }
  }

  /** Takes these, whoever holds them: they were handed over, or are the owner's in the cluster. */
  seize(ids: Iterable<string>, owner: string): void {
    for (const id of ids) {
      const holder = this.otherHolder(id, owner);
      if (holder !== undefined) this.release([id], holder);
      this.take([id], owner);
    }
  }

  /** True where all that the owner wants is known: what it does not hold it does not want. */
  isSettled(owner: string): boolean {
    return this.#settled.has(owner);
  }

  /** Gives up what the owner holds beyond these; they are all that it wants. */
  keepOnly(ids: ReadonlySet<string>, owner: string): void {
    this.#settled.add(owner);
    const held = this.#idsByOwner.get(owner) ?? [];
    this.release(
      [...held].filter((id) => !ids.has(id)),
      owner,
    );
  }

  releaseAll(owner: string): void {
    this.release([...(this.#idsByOwner.get(owner) ?? [])], owner);
    this.#idsByOwner.delete(owner);
    this.#settled.delete(owner);
  }
}
