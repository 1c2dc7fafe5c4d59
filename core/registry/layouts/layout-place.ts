import { errorMessage, TerminalError } from '../../errors.ts';
import { VerifiedBlob } from '../blob.ts';
import type { ImagePlace, ManifestContent } from '../configuration/place.ts';
import type { Descriptor, TypedDescriptor } from '../manifest.ts';
import { manifestParts } from '../manifest-parts.ts';
import { mediaTypes } from '../media-types.ts';
import { digestAlgorithm, digestOf, digestProblem } from '../reference.ts';
import { indexOf, referrerDescriptor } from '../referrers.ts';
import { UnavailableError } from '../registry-errors.ts';
import { ArchiveFiles } from './archive-files.ts';
import { DirectoryFiles, type LayoutFiles, readLayoutFile } from './layout-files.ts';
import {
  blobPath,
  checkLayoutVersion,
  indexFile,
  LayoutIndex,
  layoutFile,
  maxIndexSize,
} from './layout-index.ts';

/** Maximum bytes of a manifest that registries accept (distribution spec). */
const maxManifestSize = 4 * 1024 * 1024;

/** What the listed manifests of a layout are attached to. */
interface Subjects {
  /** By the digest of their subject. */
  readonly referrers: ReadonlyMap<string, readonly TypedDescriptor[]>;
  /** Problems of the manifests whose subject is not known, by digest. */
  readonly unreadable: ReadonlyMap<string, unknown>;
}

/** Reads an OCI layout: a directory, or a tar without unpacking it. */
export class LayoutPlace implements ImagePlace {
  readonly #files: LayoutFiles;
  readonly #index: LayoutIndex;
  #subjects: Promise<Subjects> | undefined;

  constructor(files: LayoutFiles, index: LayoutIndex) {
    this.#files = files;
    this.#index = index;
  }

  /** @throws TerminalError for a directory that is no layout */
  static async openDirectory(path: string): Promise<LayoutPlace> {
    return await LayoutPlace.#open(new DirectoryFiles(path));
  }

  /** @throws TerminalError for a file that is no tar of a layout */
  static async openArchive(path: string): Promise<LayoutPlace> {
    return await LayoutPlace.#open(await ArchiveFiles.open(path));
  }

  static async #open(files: LayoutFiles): Promise<LayoutPlace> {
    try {
      return new LayoutPlace(files, await readIndex(files));
    } catch (error) {
      await files.close();
      throw error;
    }
  }

  get name(): string {
    return this.#files.name;
  }

  /** The manifests that the layout lists, in its order. */
  get index(): LayoutIndex {
    return this.#index;
  }

  /**
   * Digest of the only image of the layout.
   * @throws TerminalError with the names of the images, if there are several
   */
  onlyImage(): string {
    const digests = new Set(this.#index.entries.map(({ digest }) => digest));
    const [digest, another] = digests;
    if (digest !== undefined && another === undefined) return digest;
    const problem = digest === undefined ? 'has no image' : 'has several images';
    throw new TerminalError(`${this.name} ${problem}${this.#choice()}`);
  }

  async manifest(reference: string, signal: AbortSignal): Promise<ManifestContent> {
    const manifest = await this.findManifest(reference, signal);
    if (manifest !== undefined) return manifest;
    throw new UnavailableError(`${this.name} has no "${reference}"${this.#choice()}`);
  }

  async findManifest(reference: string, signal: AbortSignal): Promise<ManifestContent | undefined> {
    signal.throwIfAborted();
    const entry = this.#index.find(reference);
    const digest =
      entry?.digest ?? (digestProblem(reference) === undefined ? reference : undefined);
    if (digest === undefined) return undefined;
    const bytes = await readLayoutFile(this.#files, blobPath(digest), maxManifestSize);
    if (bytes === undefined) {
      if (entry === undefined) return undefined;
      throw new TerminalError(`${this.name} lists manifest ${digest}, but does not have it`);
    }
    const actual = digestOf(bytes, digestAlgorithm(digest));
    if (actual !== digest) {
      throw new TerminalError(`${this.name}: manifest ${digest} has the digest ${actual}`);
    }
    return { bytes, digest, contentType: entry?.mediaType ?? typeByShape(bytes) };
  }

  async findDigest(reference: string, signal: AbortSignal): Promise<string | undefined> {
    signal.throwIfAborted();
    const listed = this.#index.find(reference)?.digest;
    if (listed !== undefined || digestProblem(reference) !== undefined) return listed;
    return (await this.#files.size(blobPath(reference))) === undefined ? undefined : reference;
  }

  async findReferrers(
    digest: string,
    signal: AbortSignal,
    isOther: (digest: string) => boolean = () => false,
  ): Promise<ManifestContent | undefined> {
    this.#subjects ??= this.#findSubjects(signal);
    const { referrers, unreadable } = await this.#subjects;
    for (const [each, error] of unreadable) if (!isOther(each)) throw error;
    const found = referrers.get(digest);
    return found === undefined ? undefined : indexOf(found);
  }

  blob(descriptor: Descriptor, signal: AbortSignal): VerifiedBlob {
    return new VerifiedBlob(this.#bytes(descriptor, signal), descriptor);
  }

  async close(): Promise<void> {
    await this.#files.close();
  }

  async *#bytes({ digest }: Descriptor, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const path = blobPath(digest);
    if ((await this.#files.size(path)) === undefined) {
      throw new TerminalError(`${this.name} does not have blob ${digest}`);
    }
    for await (const chunk of this.#files.stream(path)) {
      signal.throwIfAborted();
      yield chunk;
    }
  }

  /** Reads the subject of each listed manifest, because a layout has no list of referrers. */
  async #findSubjects(signal: AbortSignal): Promise<Subjects> {
    const referrers = new Map<string, TypedDescriptor[]>();
    const unreadable = new Map<string, unknown>();
    for (const { digest } of this.#index.entries) {
      try {
        const manifest = await this.manifest(digest, signal);
        const { subject } = manifestParts(manifest);
        if (subject === undefined) continue;
        const others = referrers.get(subject.digest) ?? [];
        referrers.set(subject.digest, [...others, referrerDescriptor(manifest)]);
      } catch (error) {
        signal.throwIfAborted();
        unreadable.set(digest, error);
      }
    }
    return { referrers, unreadable };
  }

  #choice(): string {
    const { names } = this.#index;
    if (names.length === 0) return '';
    const shown = names.slice(0, 10).map((name) => `"${name}"`);
    return `; it has ${shown.join(', ')}${names.length > shown.length ? ', …' : ''}`;
  }
}

/** @throws TerminalError with the reason why the files are not a layout */
async function readIndex(files: LayoutFiles): Promise<LayoutIndex> {
  const version = await readLayoutFile(files, layoutFile, maxManifestSize);
  if (version === undefined) {
    throw new TerminalError(`${files.name} is no OCI layout: it has no file ${layoutFile}`);
  }
  try {
    checkLayoutVersion(version);
    const bytes = await readLayoutFile(files, indexFile, maxIndexSize);
    if (bytes === undefined) throw new TerminalError(`it has no file ${indexFile}`);
    return LayoutIndex.parse(bytes);
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    throw new TerminalError(`${files.name} is no OCI layout: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** Type of a manifest without a media type, by what it lists (OCI image spec). */
function typeByShape(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8');
  try {
    const document: unknown = JSON.parse(text);
    const isIndex = typeof document === 'object' && document !== null && 'manifests' in document;
    return isIndex ? mediaTypes.ociIndex : mediaTypes.ociManifest;
  } catch {
    return '';
  }
}
