import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type {
  BlobToPush,
  ImagePlace,
  ImageTarget,
  ManifestToPush,
  PushOutcome,
  Referrer,
} from '../configuration/place.ts';
import type { Descriptor, TypedDescriptor } from '../manifest.ts';
import { manifestParts } from '../manifest-parts.ts';
import { digestAlgorithm, digestOf, digestProblem } from '../reference.ts';
import { checkedBytes } from './checked-bytes.ts';
import { DirectoryFiles } from './layout-files.ts';
import {
  blobPath,
  checkLayoutVersion,
  indexFile,
  LayoutIndex,
  layoutFile,
  layoutText,
} from './layout-index.ts';
import { LayoutPlace } from './layout-place.ts';
import { partialOf, wholeOf } from './partial-files.ts';
import { type LockOptions, WriterLock } from './writer-lock.ts';

/** Paths of files that a writer writes. */
const ownPath = /^(?:blobs\/[a-z0-9]+\/[0-9a-f]+|\.index\.json)$/;
const lockFile = '.writer.lock';
/** Milliseconds to wait for another writer, which pushes one image. */
const patience = 60_000;

interface HowOpened {
  readonly lock: WriterLock;
  /** Content need not survive a loss of power. */
  readonly isTemporary: boolean;
}

type LockedOptions = Pick<LockOptions, 'clock' | 'patience'> & Pick<HowOpened, 'isTemporary'>;

/**
 * Writes an OCI layout into a directory, as its only writer. A blob gets its name only when it is
 * complete and on the disk, and `index.json` is replaced atomically: a later process can continue the
 * layout of an interrupted one.
 */
export class DirectoryTarget implements ImageTarget {
  readonly mayLackBlobs = true;
  readonly name: string;
  readonly place: ImagePlace;
  readonly #root: string;
  readonly #index: LayoutIndex;
  readonly #lock: WriterLock;
  readonly #isTemporary: boolean;
  #changes = 0;
  #writing: Promise<void> = Promise.resolve();

  private constructor(root: string, index: LayoutIndex, { lock, isTemporary }: HowOpened) {
    this.name = `oci:${root}`;
    this.place = new LayoutPlace(new DirectoryFiles(root), index);
    this.#root = root;
    this.#index = index;
    this.#lock = lock;
    this.#isTemporary = isTemporary;
  }

  /**
   * Opens the layout of a directory, or creates one in it. Waits for another writer to end.
   * @throws TerminalError for an index.json without a layout, or for another version of the layout
   */
  static async open(
    root: string,
    { clock, isTemporary }: { readonly clock: Clock; readonly isTemporary: boolean },
  ): Promise<DirectoryTarget> {
    return await DirectoryTarget.#locked(root, { clock, patience, isTemporary });
  }

  static async #locked(
    root: string,
    { clock, patience, isTemporary }: LockedOptions,
  ): Promise<DirectoryTarget> {
    await mkdir(root, { recursive: true });
    const lock = await WriterLock.take(join(root, lockFile), { name: root, clock, patience });
    try {
      return await DirectoryTarget.#open(root, { lock, isTemporary });
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  static async #open(root: string, how: HowOpened): Promise<DirectoryTarget> {
    const version = await readIfThere(join(root, layoutFile));
    const index = await readIfThere(join(root, indexFile));
    // A writer that was killed at once has left an empty file.
    if (version === undefined || (version.byteLength === 0 && index === undefined)) {
      if (index !== undefined) throw new TerminalError(`${root} has no file ${layoutFile}`);
      await writeFile(join(root, layoutFile), layoutText, { flush: !how.isTemporary });
    } else {
      checkLayoutVersion(version);
    }
    const listed = index === undefined ? new LayoutIndex() : LayoutIndex.parse(index);
    const target = new DirectoryTarget(root, listed, how);
    if (index === undefined) await target.#save();
    return target;
  }

  /**
   * Like `open`, for a run that another one continues: removes partial files of an interrupted
   * writer, and no others.
   * @throws TerminalError for a directory with other content than a layout, or with another writer
   */
  static async resume(root: string, clock: Clock): Promise<DirectoryTarget> {
    const names = await readdir(root).catch(unlessMissing);
    const others = names?.filter((name) => !name.startsWith(lockFile)) ?? [];
    // An interrupted writer has left the file of the layout, or nothing: it writes that first.
    if (others.length > 0 && !others.includes(layoutFile)) {
      throw new TerminalError(
        `${root} is not empty, and no OCI layout, as it has no file ${layoutFile}: name another directory`,
      );
    }
    const target = await DirectoryTarget.#locked(root, { clock, patience: 0, isTemporary: false });
    const paths = await readdir(root, { recursive: true });
    for (const path of paths.filter((each) => ownPath.test(wholeOf(each) ?? ''))) {
      await rm(join(root, path), { force: true });
    }
    return target;
  }

  async findDigest(reference: string, signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted();
    const listed = this.#index.find(reference)?.digest;
    const digest = listed ?? (digestProblem(reference) === undefined ? reference : undefined);
    if (digest === undefined) return undefined;
    // A power loss leaves an empty file, or one of zeros.
    const bytes = await readIfThere(this.#path(digest));
    const isWhole = bytes !== undefined && digestOf(bytes, digestAlgorithm(digest)) === digest;
    return isWhole ? digest : undefined;
  }

  async hasBlob({ digest, size }: Descriptor, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    return (await sizeOf(this.#path(digest))) === size;
  }

  async pushBlob(blob: BlobToPush, signal: AbortSignal): Promise<PushOutcome> {
    if (await this.hasBlob(blob.descriptor, signal)) return 'present';
    await this.#write(blob, signal);
    return 'pushed';
  }

  async pushManifest(manifest: ManifestToPush, signal: AbortSignal): Promise<TypedDescriptor> {
    const { bytes, mediaType, tag, isPart = false } = manifest;
    const descriptor = { mediaType, digest: digestOf(bytes), size: bytes.byteLength };
    const known = await this.findDigest(descriptor.digest, signal);
    if (known === undefined) await this.#write({ descriptor, open: () => [bytes] }, signal);
    if (isPart && tag === undefined) return descriptor;
    this.#index.put(descriptor, tag);
    await this.#save();
    return descriptor;
  }

  async hasReferrer({ digest }: Referrer): Promise<boolean> {
    return this.#index.find(digest) !== undefined;
  }

  async tag(digest: string, tag: string, signal: AbortSignal): Promise<void> {
    // The layout does not list the images of its indexes.
    const manifest = await this.place.manifest(digest, signal);
    const { mediaType } = manifestParts(manifest);
    this.#index.put({ mediaType, digest, size: manifest.bytes.byteLength }, tag);
    await this.#save();
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#lock.release();
  }

  async discard(): Promise<void> {
    await this.#writing.catch(() => undefined);
    await this.#lock.release();
  }

  #path(digest: string): string {
    return join(this.#root, blobPath(digest));
  }

  async #write(blob: BlobToPush, signal: AbortSignal): Promise<void> {
    const path = this.#path(blob.descriptor.digest);
    const partial = partialOf(path);
    await mkdir(dirname(path), { recursive: true });
    try {
      const file = await open(partial, 'wx');
      try {
        // Unlike `write`, it fails where a full disk takes only a part of the chunk.
        for await (const chunk of checkedBytes(blob, signal)) await file.writeFile(chunk);
        // Otherwise a power loss could leave the name and the size, and zeros as content.
        if (!this.#isTemporary) await file.sync();
      } finally {
        await file.close();
      }
      await rename(partial, path);
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  /** Writes the changes of concurrent pushes once. */
  async #save(): Promise<void> {
    this.#changes += 1;
    const wanted = this.#changes;
    const before = this.#writing;
    this.#writing = before
      .catch(() => undefined)
      .then(async () => {
        if (this.#changes !== wanted) return;
        const partial = partialOf(join(this.#root, `.${indexFile}`));
        await writeFile(partial, this.#index.toBytes(), { flush: !this.#isTemporary });
        await rename(partial, join(this.#root, indexFile));
      });
    await this.#writing;
  }
}

async function readIfThere(path: string): Promise<Uint8Array | undefined> {
  return await readFile(path).catch(unlessMissing);
}

async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(unlessMissing))?.size;
}

function unlessMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
