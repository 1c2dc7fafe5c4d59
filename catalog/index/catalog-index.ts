import { z } from 'zod';
import { Column } from './column.ts';

/** Selects blobs that have all the given values. An empty text selects blobs without the field. */
export interface BlobQuery {
  readonly schema?: string | undefined;
  readonly package?: string | undefined;
  readonly name?: string | undefined;
}

/** Bytes of a file: from `start` to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** The indexed fields of a blob. */
export interface IndexedBlob {
  readonly schema: string;
  readonly package: string;
  readonly name: string;
}

const fields = ['schema', 'package', 'name'] as const;

const keptColumn = z.object({ values: z.array(z.string()), blobs: z.array(z.int().min(0)) });
const keptIndex = z.object({
  ends: z.array(z.int().min(0)),
  schema: keptColumn,
  package: keptColumn,
  name: keptColumn,
});

/** A catalog's index in the format of its file. */
export type KeptIndex = z.infer<typeof keptIndex>;

/**
 * Positions of the blobs of a catalog in its file of JSON lines, by schema, package and name. Holds
 * only offsets and names: some hundred bytes per blob, however large the blobs are.
 */
export class CatalogIndex {
  readonly #columns: Readonly<Record<(typeof fields)[number], Column>>;
  readonly #ends: number[];

  constructor(kept?: KeptIndex) {
    this.#ends = [...(kept?.ends ?? [])];
    this.#columns = {
      schema: new Column(kept?.schema),
      package: new Column(kept?.package),
      name: new Column(kept?.name),
    };
  }

  /** @throws Error for a value that is not a valid index */
  static read(value: unknown): CatalogIndex {
    const kept = keptIndex.parse(value);
    const isWhole = fields.every(
      (field) =>
        kept[field].blobs.length === kept.ends.length &&
        kept[field].blobs.every((id) => id < kept[field].values.length),
    );
    const isAscending = kept.ends.every((end, blob) => end >= (kept.ends[blob - 1] ?? 0));
    if (!isWhole || !isAscending) throw new Error('the index is damaged');
    return new CatalogIndex(kept);
  }

  /** Appends the next blob of the file, with its length in bytes. */
  add(blob: IndexedBlob, length: number): void {
    for (const field of fields) this.#columns[field].add(blob[field]);
    this.#ends.push(this.size + length);
  }

  /** Number of blobs. */
  get blobs(): number {
    return this.#ends.length;
  }

  /** Size of the file in bytes. */
  get size(): number {
    return this.#ends.at(-1) ?? 0;
  }

  /** Values of a field, each once, in the order of the file. */
  values(field: keyof BlobQuery): readonly string[] {
    return this.#columns[field].values;
  }

  /** Numbers of the matching blobs, ascending: the first blob of the file is 0. */
  find(query: BlobQuery): readonly number[] {
    const asked = fields.flatMap((field) => {
      const value = query[field];
      return value === undefined ? [] : [{ column: this.#columns[field], value }];
    });
    const lists = asked.map(({ column, value }) => column.blobsWith(value));
    const shortest = lists.toSorted((a, b) => a.length - b.length)[0];
    if (shortest === undefined) return this.#ends.map((_, blob) => blob);
    const found: number[] = [];
    for (const blob of shortest) {
      if (asked.every(({ column, value }) => column.has(blob, value))) found.push(blob);
    }
    return found;
  }

  /** Positions of the matching blobs, in the order of the file; adjacent blobs share one range. */
  ranges(query: BlobQuery): readonly ByteRange[] {
    const ranges: { start: number; end: number }[] = [];
    for (const blob of this.find(query)) {
      const { start, end } = this.range(blob);
      const last = ranges.at(-1);
      if (last?.end === start) last.end = end;
      else ranges.push({ start, end });
    }
    return ranges;
  }

  range(blob: number): ByteRange {
    return { start: this.#ends[blob - 1] ?? 0, end: this.#ends[blob] ?? 0 };
  }

  blob(blob: number): IndexedBlob {
    return {
      schema: this.#columns.schema.valueOf(blob),
      package: this.#columns.package.valueOf(blob),
      name: this.#columns.name.valueOf(blob),
    };
  }

  toJSON(): unknown {
    return { ends: this.#ends, ...this.#columns };
  }
}
