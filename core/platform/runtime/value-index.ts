/** Finds keys by values derived from their objects. */
export class ValueIndex<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #keys = new Map<string, Set<string>>();
  readonly #values = new Map<string, ReadonlySet<string>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  keys(value: string): readonly string[] {
    return [...(this.#keys.get(value) ?? [])];
  }

  set(key: string, object: T): void {
    this.delete(key);
    const values = new Set(this.#valuesOf(object));
    this.#values.set(key, values);
    for (const value of values) {
      const keys = this.#keys.get(value);
      if (keys === undefined) this.#keys.set(value, new Set([key]));
      else keys.add(key);
    }
  }

  delete(key: string): void {
    for (const value of this.#values.get(key) ?? []) {
      const keys = this.#keys.get(value);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(value);
    }
    this.#values.delete(key);
  }
}
