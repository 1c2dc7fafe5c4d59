import { createHash } from 'node:crypto';
import type { ContentLimits } from '../../contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import {
  applyDelta,
  ContentCache,
  deltaResultSize,
  inflateEntry,
  type ObjectType,
  type PackEntry,
  readEntry,
} from './pack-entry.ts';

export interface PackOptions {
  /** The repository for messages, without a password. */
  readonly repository: string;
  readonly limits: ContentLimits;
}

const headerLength = 12;
const checksumLength = 20;

/** git makes chains of 50, or of 250 with --aggressive. */
const maxChain = 250;

/** Objects per allowed file: a repository contains more than the directory of the bundle. */
const objectsPerEntry = 50;

/** Cached results of deltas that are bases of others, so that few are computed twice. */
const cachedBytes = 16 * 1024 * 1024;

interface Resolved extends PackEntry {
  readonly type: ObjectType;
  /** Number of deltas between this object and a complete one. */
  readonly chain: number;
  /** The base of a delta. */
  readonly parent: Resolved | undefined;
}

/**
 * The index (gitformat-pack) of a packfile's objects, computed in limited memory: isomorphic-git's
 * own indexing keeps the results of chained deltas until the end, and follows a delta that is its
 * own base. Ignores deltas whose base is in another pack, because core requests no such packs.
 * @throws TerminalError that names the repository, the exceeded limit and the value
 * @throws Error for a broken pack
 */
export function indexPack(pack: Uint8Array, options: PackOptions): Buffer {
  try {
    const view = Buffer.from(pack.buffer, pack.byteOffset, pack.byteLength);
    return new PackIndexer(view, options).index();
  } catch (error) {
    if (error instanceof TerminalError) throw error;
    throw new Error(`the server sent a broken pack: ${errorMessage(error)}`, { cause: error });
  }
}

class PackIndexer {
  readonly #pack: Buffer;
  readonly #checksum: Buffer;
  readonly #options: PackOptions;
  readonly #allowed: number;
  readonly #starts = new Set<number>();
  /** The first object of each id: a later one may be a delta with the first as its base. */
  readonly #objects = new Map<string, Resolved>();
  /** By their base: its position, or its id. */
  readonly #deltas = new Map<number | string, PackEntry[]>();
  readonly #cache = new ContentCache(cachedBytes);
  #unpacked = 0;

  constructor(pack: Buffer, options: PackOptions) {
    const { maxBytes, maxCompressionRatio } = options.limits;
    this.#pack = pack.subarray(0, -checksumLength);
    this.#checksum = pack.subarray(-checksumLength);
    this.#options = options;
    this.#allowed = Math.max(maxBytes, pack.byteLength * maxCompressionRatio);
  }

  index(): Buffer {
    const pack = this.#pack;
    if (pack.byteLength < headerLength || pack.toString('latin1', 0, 4) !== 'PACK') {
      throw new Error('it does not begin as one');
    }
    const plain = this.#readEntries(pack.readUInt32BE(8));
    for (const object of plain) this.#resolveDeltasOf(object);
    const offsets = Array.from(this.#objects, ([id, { start }]) => [id, start] as const);
    return writeIndex(new Map(offsets), this.#checksum);
  }

  /** Checks every object's size before any delta is resolved. */
  #readEntries(count: number): readonly [string, Resolved][] {
    this.#checkCount(count);
    const plain: [string, Resolved][] = [];
    let start = headerLength;
    for (let left = count; left > 0; left -= 1) {
      const entry = readEntry(this.#pack, start);
      this.#count(entry.size);
      const { content, end } = inflateEntry(this.#pack, entry);
      const { type, base } = entry;
      if (type !== undefined) {
        plain.push(this.#add({ ...entry, type, chain: 0, parent: undefined }, content));
      } else if (base !== undefined) this.#addDelta(entry, base, content);
      this.#starts.add(start);
      start = end;
    }
    return plain;
  }

  #addDelta(entry: PackEntry, base: number | string, content: Buffer): void {
    // A base must come before its deltas, so that no delta is its own base.
    if (typeof base === 'number' && !this.#starts.has(base)) {
      throw new Error(`no object that a delta may have as its base begins at byte ${base}`);
    }
    this.#count(deltaResultSize(content));
    const siblings = this.#deltas.get(base);
    if (siblings === undefined) this.#deltas.set(base, [entry]);
    else siblings.push(entry);
  }

  /**
   * Resolves all deltas based on an object, in a loop instead of recursion, because chains may be
   * long.
   */
  #resolveDeltasOf([id, plain]: readonly [string, Resolved]): void {
    const waiting = this.#takeDeltasOf(id, plain);
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { entry, parent } = next;
      const chain = parent.chain + 1;
      if (chain > maxChain) throw this.#exceeded(`has chains of more than ${maxChain} deltas`);
      const object = { ...entry, type: parent.type, chain, parent };
      const [id] = this.#add(object, this.#contentOf(object));
      // One by one: there may be more of them than a call may have arguments.
      for (const delta of this.#takeDeltasOf(id, object)) waiting.push(delta);
    }
  }

  /** Deltas that name a base by id use the first object with that id. */
  #takeDeltasOf(id: string, parent: Resolved): { entry: PackEntry; parent: Resolved }[] {
    const entries = [parent.start, id].flatMap((base) => this.#deltas.get(base) ?? []);
    this.#deltas.delete(parent.start);
    this.#deltas.delete(id);
    return entries.map((entry) => ({ entry, parent }));
  }

  #contentOf(object: Resolved): Buffer {
    const missing: Resolved[] = [];
    let known: Buffer | undefined;
    for (let at: Resolved | undefined = object; at !== undefined; at = at.parent) {
      known = this.#cache.get(at.start);
      if (known !== undefined) break;
      missing.push(at);
    }
    let content = known ?? Buffer.alloc(0);
    for (const at of missing.toReversed()) {
      const data = inflateEntry(this.#pack, at).content;
      content = at.parent === undefined ? data : applyDelta(data, content);
      this.#cache.set(at.start, content);
    }
    return content;
  }

  #add(object: Resolved, content: Buffer): [string, Resolved] {
    const header = `${object.type} ${content.byteLength}\0`;
    const id = createHash('sha1').update(header).update(content).digest('hex');
    if (!this.#objects.has(id)) this.#objects.set(id, object);
    return [id, object];
  }

  #checkCount(count: number): void {
    const most = objectsPerEntry * this.#options.limits.maxEntries;
    if (count <= most) return;
    throw this.#exceeded(
      `has ${count} objects, over the limit of ${most} (${objectsPerEntry} times --max-content-entries)`,
    );
  }

  #count(size: number): void {
    const { maxBytes } = this.#options.limits;
    this.#unpacked += size;
    if (size > maxBytes) {
      throw this.#exceeded(
        `unpacks to more than the limit of ${maxBytes} bytes (--max-content-bytes)`,
      );
    }
    if (this.#unpacked > this.#allowed) {
      throw this.#exceeded(
        `unpacks to more than the limit of ${this.#allowed} bytes (--max-content-compression-ratio)`,
      );
    }
  }

  #exceeded(what: string): TerminalError {
    return new TerminalError(`the repository ${this.#options.repository} ${what}`);
  }
}

const signature = Buffer.from([0xff, 0x74, 0x4f, 0x63, 0, 0, 0, 2]);

/** A version 2 index (gitformat-pack) with the position of each id's object. */
function writeIndex(starts: ReadonlyMap<string, number>, packChecksum: Uint8Array): Buffer {
  const ids = [...starts.keys()].sort();
  const offsets = Buffer.alloc(ids.length * 4);
  for (const [index, id] of ids.entries()) offsets.writeUInt32BE(starts.get(id) ?? 0, index * 4);
  const body = Buffer.concat([
    signature,
    fanout(ids),
    Buffer.from(ids.join(''), 'hex'),
    // Checksums of the packed objects, for copying them to other packs, which core never does.
    Buffer.alloc(ids.length * 4),
    offsets,
    packChecksum,
  ]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

/** For each first byte, the number of ids with that byte or a lower one. */
function fanout(ids: readonly string[]): Buffer {
  const counts = new Uint32Array(256);
  for (const id of ids) {
    const byte = Number.parseInt(id.slice(0, 2), 16);
    counts[byte] = (counts[byte] ?? 0) + 1;
  }
  const table = Buffer.alloc(counts.length * 4);
  let sum = 0;
  for (const [byte, count] of counts.entries()) {
    sum += count;
    table.writeUInt32BE(sum, byte * 4);
  }
  return table;
}
