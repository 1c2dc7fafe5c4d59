/** One field of many blobs: the value of each blob, and the blobs of each value. */
export class Column {
  readonly #values: string[];
  readonly #ids: Map<string, number>;
  readonly #idOfBlob: number[];
  #blobsById: BlobsById | undefined;

  constructor(kept: KeptColumn = { values: [], blobs: [] }) {
    this.#values = [...kept.values];
    this.#ids = new Map(kept.values.map((value, id) => [value, id]));
    this.#idOfBlob = [...kept.blobs];
  }

  /** Appends the value of the next blob. */
  add(value: string): void {
    let id = this.#ids.get(value);
    if (id === undefined) {
      id = this.#values.push(value) - 1;
      this.#ids.set(value, id);
    }
    this.#idOfBlob.push(id);
    this.#blobsById = undefined;
  }

  /** Values in the order in which they first occur. */
  get values(): readonly string[] {
    return this.#values;
  }

  has(blob: number, value: string): boolean {
    return this.#idOfBlob[blob] === this.#ids.get(value);
  }

  valueOf(blob: number): string {
    return this.#values[this.#idOfBlob[blob] ?? -1] ?? '';
  }

  /** Numbers of the blobs with this value, ascending. */
  blobsWith(value: string): Uint32Array {
    const id = this.#ids.get(value);
    if (id === undefined) return new Uint32Array();
    this.#blobsById ??= groupById(this.#idOfBlob, this.#values.length);
    const { blobs, firsts } = this.#blobsById;
    return blobs.subarray(firsts[id], firsts[id + 1]);
  }

  toJSON(): KeptColumn {
    return { values: this.#values, blobs: this.#idOfBlob };
  }
}

/** A column in the format of the file: its values, and for each blob the index of its value. */
export interface KeptColumn {
  readonly values: readonly string[];
  readonly blobs: readonly number[];
}

interface BlobsById {
  /** Blobs, grouped by the id of their value. */
  readonly blobs: Uint32Array;
  /** Start of each id's group, and the end of the last group. */
  readonly firsts: Uint32Array;
}

function groupById(idOfBlob: readonly number[], ids: number): BlobsById {
  const firsts = new Uint32Array(ids + 1);
  for (const id of idOfBlob) firsts[id + 1] = (firsts[id + 1] ?? 0) + 1;
  for (let id = 0; id < ids; id += 1) firsts[id + 1] = (firsts[id + 1] ?? 0) + (firsts[id] ?? 0);
  const next = firsts.slice();
  const blobs = new Uint32Array(idOfBlob.length);
  for (const [blob, id] of idOfBlob.entries()) {
    const at = next[id] ?? 0;
    blobs[at] = blob;
    next[id] = at + 1;
  }
  return { blobs, firsts };
}
