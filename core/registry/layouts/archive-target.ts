import { type FileHandle, rename, rm } from 'node:fs/promises';
import { type TarPlace, tarEnd, tarHeader, tarPadding } from '../../content/index.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
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
import { digestOf } from '../reference.ts';
import { ArchiveFiles } from './archive-files.ts';
import { checkedBytes } from './checked-bytes.ts';
import { blobPath, indexFile, LayoutIndex, layoutFile, layoutText } from './layout-index.ts';
import { LayoutPlace } from './layout-place.ts';
import { isThere } from './partial-files.ts';
import { newArchive, openUnfinished, type UnfinishedArchive } from './unfinished-archive.ts';
import { type LockOptions, WriterLock } from './writer-lock.ts';

export interface NewArchiveOptions {
  /** Replace an existing file when the archive is closed. */
  readonly overwrite: boolean;
  readonly clock: Clock;
}

interface ResumeOptions {
  /** Name of the artifact that a finished archive must have. */
  readonly artifact: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal | undefined;
}

interface HowOpened {
  /** Whether a later run continues it when it is discarded. */
  readonly isKept: boolean;
  readonly overwrite: boolean;
}

interface OpenedArchive extends HowOpened {
  readonly archive: UnfinishedArchive;
  readonly lock: WriterLock;
}

type LockedOptions = HowOpened &
  Pick<LockOptions, 'clock' | 'patience'> &
  Pick<ResumeOptions, 'signal'>;

/** Milliseconds to wait for another writer, which pushes one image. */
const patience = 60_000;

/**
 * Writes an OCI layout into a tar as content arrives. The archive gets its name only when it is
 * closed; equal content in the same order produces equal bytes.
 */
export class ArchiveTarget implements ImageTarget {
  readonly mayLackBlobs = true;
  readonly name: string;
  readonly place: ImagePlace;
  readonly #path: string;
  readonly #archive: UnfinishedArchive;
  readonly #file: FileHandle;
  readonly #index: LayoutIndex;
  /** By path. */
  readonly #places: Map<string, TarPlace>;
  readonly #manifests = new Map<string, TypedDescriptor>();
  readonly #isKept: boolean;
  readonly #overwrite: boolean;
  readonly #lock: WriterLock;
  #end: number;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(path: string, { archive, lock, isKept, overwrite }: OpenedArchive) {
    this.name = `oci-archive:${path}`;
    this.#path = path;
    this.#archive = archive;
    this.#file = archive.file;
    this.#places = new Map(archive.places);
    const { index } = archive;
    const isThere = (digest: string) => this.#places.has(blobPath(digest));
    this.#index = index === undefined ? new LayoutIndex() : LayoutIndex.parse(index, isThere);
    this.place = new LayoutPlace(new ArchiveFiles(path, this.#file, this.#places), this.#index);
    this.#end = archive.end;
    this.#isKept = isKept;
    this.#overwrite = overwrite;
    this.#lock = lock;
  }

  /**
   * Creates an archive. Waits for another writer to end.
   * @throws TerminalError for an existing one, unless it is to be overwritten
   */
  static async open(path: string, options: NewArchiveOptions): Promise<ArchiveTarget> {
    const { clock, overwrite } = options;
    const opened = { clock, patience, overwrite, isKept: false };
    return await ArchiveTarget.#locked(path, opened, () => newArchive(path, overwrite));
  }

  /**
   * Continues an interrupted archive, or a finished one that has the artifact: keeps its content.
   * After `discard` it can be continued again.
   * @throws TerminalError if another process writes it; the signal's reason
   */
  static async resume(
    path: string,
    { artifact, clock, signal }: ResumeOptions,
  ): Promise<ArchiveTarget> {
    const options = { clock, patience: 0, overwrite: false, isKept: true, signal };
    return await ArchiveTarget.#locked(path, options, () =>
      openUnfinished({ path, artifact, signal }),
    );
  }

  static async #locked(
    path: string,
    { clock, patience, signal, ...how }: LockedOptions,
    openArchive: () => Promise<UnfinishedArchive>,
  ): Promise<ArchiveTarget> {
    let lock: WriterLock | undefined;
    try {
      lock = await WriterLock.take(`${path}.lock`, { name: path, clock, patience });
      const target = new ArchiveTarget(path, { archive: await openArchive(), lock, ...how });
      await target.#begin().catch(async (error: unknown) => {
        await target.discard();
        throw error;
      });
      return target;
    } catch (error) {
      await lock?.release();
      signal?.throwIfAborted();
      if (error instanceof TerminalError) throw error;
      throw new TerminalError(`cannot write ${path}: ${errorMessage(error)}`, { cause: error });
    }
  }

  async #begin(): Promise<void> {
    await this.#file.truncate(this.#end);
    if (this.#end > 0) return;
    await this.#append(layoutFile, [Buffer.from(layoutText)], layoutText.length);
  }

  async findDigest(reference: string): Promise<string | undefined> {
    return this.#index.find(reference)?.digest ?? this.#manifests.get(reference)?.digest;
  }

  async hasBlob({ digest, size }: Descriptor): Promise<boolean> {
    return this.#places.get(blobPath(digest))?.size === size;
  }

  async pushBlob(blob: BlobToPush, signal: AbortSignal): Promise<PushOutcome> {
    const { digest, size } = blob.descriptor;
    // One after another, because all of them append to the same end.
    return await this.#inTurn(async () => {
      if (await this.hasBlob(blob.descriptor)) return 'present';
      await this.#append(blobPath(digest), checkedBytes(blob, signal), size);
      return 'pushed';
    });
  }

  async pushManifest(manifest: ManifestToPush, signal: AbortSignal): Promise<TypedDescriptor> {
    const { bytes, mediaType, tag, isPart = false } = manifest;
    const descriptor = { mediaType, digest: digestOf(bytes), size: bytes.byteLength };
    await this.pushBlob({ descriptor, open: () => [bytes] }, signal);
    this.#manifests.set(descriptor.digest, descriptor);
    if (!isPart || tag !== undefined) this.#index.put(descriptor, tag);
    return descriptor;
  }

  async hasReferrer({ digest }: Referrer): Promise<boolean> {
    return this.#index.find(digest) !== undefined;
  }

  async tag(digest: string, tag: string): Promise<void> {
    const descriptor = this.#manifests.get(digest);
    if (descriptor === undefined) throw new TerminalError(`${this.name} does not have ${digest}`);
    this.#index.put(descriptor, tag);
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => {
      const index = this.#index.toBytes();
      const { index: former, end } = this.#archive;
      // Without new content, the index at the end is still the right one.
      const isAsBefore = this.#end === end && former !== undefined && former.equals(index);
      if (!isAsBefore) await this.#append(indexFile, [index], index.byteLength);
      await this.#write(tarEnd, this.#end);
    });
    if (!this.#overwrite && (await isThere(this.#path))) {
      throw new TerminalError(
        `another program has written ${this.#path} meanwhile: move it, and run the same command again`,
      );
    }
    await this.#file.sync();
    await this.#file.close();
    await rename(this.#archive.partial, this.#path);
    await this.#lock.release();
  }

  async discard(): Promise<void> {
    await this.#last.catch(() => undefined);
    await this.#file.close();
    if (!this.#isKept) await rm(this.#archive.partial, { force: true });
    await this.#lock.release();
  }

  /** Appends an entry; removes it again if its content is invalid or incomplete. */
  async #append(
    path: string,
    content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    size: number,
  ): Promise<void> {
    let position = this.#end;
    const write = async (bytes: Uint8Array): Promise<void> => {
      await this.#write(bytes, position);
      position += bytes.byteLength;
    };
    try {
      for (const part of tarHeader({ path, size })) await write(part);
      const start = position;
      for await (const chunk of content) await write(chunk);
      await write(tarPadding(size));
      this.#end = position;
      this.#places.set(path, { start, size });
    } catch (error) {
      await this.#file.truncate(this.#end);
      throw error;
    }
  }

  /** All of the bytes: a full disk first takes a part of them, and then fails. */
  async #write(bytes: Uint8Array, position: number): Promise<void> {
    for (let at = 0; at < bytes.byteLength; ) {
      const left = bytes.byteLength - at;
      at += (await this.#file.write(bytes, at, left, position + at)).bytesWritten;
    }
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.catch(() => undefined).then(work);
    this.#last = turn;
    turn.catch(() => undefined);
    return await turn;
  }
}
