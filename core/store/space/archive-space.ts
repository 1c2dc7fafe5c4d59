import { readdirSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContentKey } from '../../contracts/store.ts';
import { WaitingError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import { bundleNameOf } from '../archive.ts';

export interface ArchiveSpaceOptions {
  /** Maximum bytes of all archives together. */
  readonly maxBytes: number;
  /** The creator of the Bundle of that name. */
  readonly creatorOf: (bundle: string) => string;
  /** Whether the content of the Bundle of that name was stored before: it needs no share again. */
  readonly isStored: (bundle: string) => boolean;
  readonly clock: Pick<Clock, 'monotonic'>;
}

interface Archive {
  readonly bundle: string;
  readonly bytes: number;
  /** Looked up when it is needed. */
  creator?: string;
}

/** An archive for which there was no room. */
interface Refusal {
  readonly bundle: string;
  readonly bytes: number;
  readonly at: number;
}

/**
 * Milliseconds for which the size of a refused archive counts: a source without a pin, such as a moving
 * tag, may have smaller content later.
 */
const refusedFor = 60 * 60_000;

/**
 * Maximum part of one creator in the bytes that the archives of others leave free, as of other
 * places; it may always have one archive.
 */
const largestShare = 3 / 4;

const mebibyte = 1024 * 1024;

/**
 * Bounds the bytes of all archives, and divides them among the creators of their Bundles: the
 * kubelet evicts a pod whose volume is full, and its successor would fetch everything again, to be
 * evicted as well.
 */
export class ArchiveSpace {
  readonly #options: ArchiveSpaceOptions;
  /** By path. */
  readonly #archives = new Map<string, Archive>();
  #bytes = 0;
  /** By UID of the Bundle. */
  readonly #refusals = new Map<string, Refusal>();
  #onRoom: (bundle: string) => void = () => undefined;

  constructor(options: ArchiveSpaceOptions) {
    this.#options = options;
  }

  /** Counts the archives that are in a directory already. */
  addDirectory(directory: string): void {
    for (const file of readdirSync(directory)) {
      const bundle = bundleNameOf(file);
      if (bundle === undefined) continue;
      const path = join(directory, file);
      this.set(path, bundle, statSync(path, { throwIfNoEntry: false })?.size ?? 0);
    }
  }

  /** Counts an archive, in place of an earlier one at its path. */
  set(path: string, bundle: string, bytes: number): void {
    this.#forget(path);
    this.#archives.set(path, { bundle, bytes });
    this.#bytes += bytes;
  }

  delete(path: string): void {
    this.#forget(path);
    for (const { bundle, bytes } of this.#refusals.values()) {
      if (this.#bytes + bytes <= this.#options.maxBytes) this.#onRoom(bundle);
    }
  }

  move(from: string, to: string): void {
    const archive = this.#archives.get(from);
    if (archive === undefined) return;
    this.#forget(from);
    this.set(to, archive.bundle, archive.bytes);
  }

  #forget(path: string): void {
    this.#bytes -= this.#archives.get(path)?.bytes ?? 0;
    this.#archives.delete(path);
  }

  /** Calls the listener with a Bundle that was refused, whenever there may be room for its archive. */
  onRoom(listener: (bundle: string) => void): void {
    this.#onRoom = listener;
  }

  /**
   * Resolves when the content of a Bundle may be fetched: if its archive was refused within the last
   * hour, when there is room for that one, otherwise while there is any room.
   * @throws WaitingError that names the flag
   */
  async checkBeforeFetch(path: string, { name, uid }: ContentKey): Promise<void> {
    this.#forgetOldRefusals();
    await this.#check(path, name, this.#refusals.get(uid)?.bytes);
  }

  /**
   * Resolves when an archive may be added, in place of the one at its path.
   * @throws WaitingError that names the flag
   */
  async check(path: string, { name: bundle, uid }: ContentKey, bytes: number): Promise<void> {
    // Before the check: an archive may go while it runs.
    this.#refusals.set(uid, { bundle, bytes, at: this.#options.clock.monotonic() });
    await this.#check(path, bundle, bytes);
    this.#refusals.delete(uid);
  }

  #forgetOldRefusals(): void {
    const now = this.#options.clock.monotonic();
    for (const [uid, { at }] of this.#refusals) {
      if (now - at >= refusedFor) this.#refusals.delete(uid);
    }
  }

  async #check(path: string, bundle: string, bytes: number | undefined): Promise<void> {
    const least = bytes ?? 1;
    if (this.#problem(path, bundle, least) === undefined) return;
    await this.#forgetMissing();
    const problem = this.#problem(path, bundle, least);
    if (problem === undefined) return;
    const needed = bytes === undefined ? '' : `, and this one needs ${inMebibytes(bytes)}`;
    throw new WaitingError(
      `${problem} (--max-archive-bytes)${needed}: delete Bundles that are not needed, or allow more`,
    );
  }

  #problem(path: string, bundle: string, bytes: number): string | undefined {
    const { maxBytes, creatorOf, isStored } = this.#options;
    const others = this.#bytes - (this.#archives.get(path)?.bytes ?? 0);
    const all = inMebibytes(maxBytes);
    if (others + bytes > maxBytes) {
      return `the archives of all Bundles take ${inMebibytes(others)} of ${all}`;
    }
    // No creator has more than all have together.
    if (others + bytes <= largestShare * maxBytes || isStored(bundle)) return undefined;
    const creator = creatorOf(bundle);
    const own = this.#bytesOf(creator, path);
    const share = largestShare * (maxBytes - others + own);
    if (own === 0 || own + bytes <= share) return undefined;
    return `the archives of ${creator} take ${inMebibytes(own)} of the ${inMebibytes(share)} that one creator may have of ${all}`;
  }

  /** An admin may delete archives at any time. */
  async #forgetMissing(): Promise<void> {
    const paths = [...this.#archives.keys()];
    const exist = await Promise.all(paths.map(async (path) => await exists(path)));
    for (const [index, path] of paths.entries()) if (exist[index] === false) this.delete(path);
  }

  #bytesOf(creator: string, except: string): number {
    let bytes = 0;
    for (const [path, archive] of this.#archives) {
      archive.creator ??= this.#options.creatorOf(archive.bundle);
      if (archive.creator === creator && path !== except) bytes += archive.bytes;
    }
    return bytes;
  }
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}

function inMebibytes(bytes: number): string {
  return `${Math.ceil(bytes / mebibyte)} MiB`;
}
