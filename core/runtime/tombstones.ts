/** Enough for every deletion that an answer under way could miss. */
const capacity = 4096;

/** When objects were last deleted, as resourceVersions; the oldest are forgotten first. */
export class Tombstones {
  readonly #versions = new Map<string, string>();

  add(key: string, resourceVersion: string | undefined): void {
    if (resourceVersion === undefined) return;
    this.#versions.delete(key);
    this.#versions.set(key, resourceVersion);
    if (this.#versions.size <= capacity) return;
    for (const oldest of this.#versions.keys()) {
      this.#versions.delete(oldest);
      return;
    }
  }

  get(key: string): string | undefined {
    return this.#versions.get(key);
  }

  delete(key: string): void {
    this.#versions.delete(key);
  }
}
