import { errorMessage, TerminalError } from '../../core/errors.ts';
import {
  type CopySource,
  type CopyTarget,
  HostLimits,
  ImageCopier,
  type KeptTag,
  type Platform,
  readWholeImage,
  type WholeImage,
} from '../../core/registry/index.ts';
import type { CarriedImage } from './carried-images.ts';
import { checkNeeds, type ImageToCopy, type ReplacedCatalog, stagesOf } from './image-to-copy.ts';
import { inParallel } from './in-parallel.ts';
import { type MirrorEvent, noteOf, planOf } from './mirror-event.ts';

export interface MirrorRunOptions {
  /** Copy only images of this platform; indexes stay whole. */
  readonly platform?: Platform | undefined;
  /** Maximum number of concurrent requests to one registry. */
  readonly perHost: number;
  readonly onEvent: (event: MirrorEvent) => void;
  readonly signal: AbortSignal;
}

/** Optional settings of a run. */
export interface RunDetails {
  /**
   * Digests that earlier runs carried, by repository below the target. The run skips images whose
   * digests are all listed for their repository, and blobs listed for any repository.
   */
  readonly earlier?: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  /** Returns the repository on the target's host that may have a blob. */
  readonly mountFrom?: ((digest: string) => string | undefined) | undefined;
  /** Text to append to the problem of an image that cannot be copied. */
  readonly hint?: ((error: unknown) => string) | undefined;
  /** Returns a sentence about what clusters lose with a catalog; undefined for nothing. */
  readonly lossesOf?: ((catalog: ReplacedCatalog) => Promise<string | undefined>) | undefined;
}

/** A piece of work for an image; with a host, it waits for the limit of that host. */
interface Attempt {
  readonly source: string;
  readonly bundle?: string | undefined;
  readonly host?: string | undefined;
  readonly hint?: ((error: unknown) => string) | undefined;
}

/** A place for images; not all places have tags. */
export interface MirrorPlace extends Omit<CopyTarget, 'tag'> {
  readonly isTagged: boolean;
}

/** Maximum number of images that are read, or copied, at the same time. */
export const imagesAtOnce = 8;

/** Copies images to one target. Reports an image that it cannot copy, and copies the others. */
export class MirrorRun {
  readonly #options: MirrorRunOptions;
  readonly #limits: HostLimits;
  readonly #failed = new Map<string, string>();
  readonly #content = new Map<string, Set<string>>();
  readonly #details: RunDetails;

  constructor(options: MirrorRunOptions, details: RunDetails = {}) {
    this.#options = options;
    this.#details = details;
    this.#limits = new HostLimits(options.perHost);
  }

  /** Problems by source of the image. */
  get failures(): ReadonlyMap<string, string> {
    return this.#failed;
  }

  /** Digests of all copied or existing content, by repository below the target. */
  get content(): ReadonlyMap<string, ReadonlySet<string>> {
    return this.#content;
  }

  /** Sends an event to the observer. */
  tell(event: MirrorEvent): void {
    this.#options.onEvent(event);
  }

  /** Records and reports an image that cannot be copied. */
  fail({ source, bundle, hint }: Attempt, error: unknown): void {
    const named = bundle === undefined ? '' : ` (bundle ${bundle} names it)`;
    const problem = `${errorMessage(error)}${named}${hint?.(error) ?? ''}`;
    this.#failed.set(source, problem);
    this.#options.onEvent({ kind: 'failed', source, problem });
  }

  /**
   * Runs `work`, and records its failure, so that others continue. Throws only if the run is
   * aborted.
   */
  async attempt(what: Attempt, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#options;
    signal.throwIfAborted();
    try {
      await this.#limits.run(what.host === undefined ? [] : [what.host], work);
    } catch (error) {
      signal.throwIfAborted();
      this.fail(what, error);
    }
  }

  /**
   * Copies images.
   * @returns the images that were copied or existed already, sorted by source
   */
  async copy(
    images: readonly ImageToCopy[],
    target: (path: string) => MirrorPlace,
  ): Promise<readonly CarriedImage[]> {
    const read = await this.#read(images);
    try {
      this.tell(planOf(read.map(({ content }) => content)));
      const { signal } = this.#options;
      const { earlier = new Map(), mountFrom, hint } = this.#details;
      const carried = new Set([...earlier.values()].flatMap((digests) => [...digests]));
      const isLeftOut = (digest: string) => carried.has(digest);
      const onBytes = (bytes: number, sent: boolean) => {
        if (bytes > 0) this.tell({ kind: 'bytes', bytes, sent });
      };
      const limits = this.#limits;
      const onKept = (kept: KeptTag) => this.tell(noteOf(kept));
      const copier = new ImageCopier({ limits, onBytes, signal, isLeftOut, mountFrom, onKept });
      const copied: CarriedImage[] = [];
      for (const stage of stagesOf(read)) {
        await inParallel(stage, imagesAtOnce, async (each) => {
          const { source, path, bundle, needs } = each.image;
          await this.attempt({ source, bundle, hint }, async () => {
            checkNeeds(needs, this.#failed);
            const to = target(path);
            const text = await this.#losses(each, to);
            copied.push(await this.#copy(each, copier, to));
            if (text !== undefined) this.tell({ kind: 'note', text });
            this.#note(path, each.content);
          });
        });
      }
      return copied.toSorted((a, b) => (a.source < b.source ? -1 : 1));
    } finally {
      for (const { image, from } of read) if (image.isShared !== true) await from.place.close();
    }
  }

  /**
   * Confirms that the target has images of earlier runs, and tags them.
   * @returns the images that it has
   */
  async confirm(
    images: readonly CarriedImage[],
    target: (path: string) => MirrorPlace,
  ): Promise<readonly CarriedImage[]> {
    const { signal } = this.#options;
    const confirmed: CarriedImage[] = [];
    await inParallel(images, imagesAtOnce, async (image) => {
      const { source, digest, path, tag } = image;
      const { target: place, host } = target(path);
      await this.attempt({ source, host }, async () => {
        if ((await place.findDigest(digest, signal)) === undefined) {
          throw new TerminalError(
            `it was carried before, and ${place.name} does not have ${digest}: push what was carried before first, or carry all without --since`,
          );
        }
        if ((await place.findDigest(tag, signal)) !== digest) await place.tag(digest, tag, signal);
        confirmed.push(image);
        this.tell({ kind: 'present', source, digest });
      });
    });
    return confirmed;
  }

  /** What clusters lose with the catalog that an image is about to replace. */
  async #losses(
    { image: { catalog, tag }, content: { digest }, from }: ReadImage,
    { target: { name, place } }: MirrorPlace,
  ): Promise<string | undefined> {
    const { signal } = this.#options;
    const manifest = catalog?.isPruned === true ? await place.findManifest(tag, signal) : undefined;
    if (manifest === undefined || manifest.digest === digest) return undefined;
    const after = { place: from.place, manifest: await from.place.manifest(digest, signal) };
    return await this.#details.lossesOf?.({ name, tag, before: { place, manifest }, after });
  }

  async #copy(
    { image, content, from }: ReadImage,
    copier: ImageCopier,
    { isTagged, ...place }: MirrorPlace,
  ): Promise<CarriedImage> {
    const { source, path, tag, catalog, needs } = image;
    const { digest } = content;
    const isEarlier = this.#isEarlier(path, content);
    const to = { ...place, tag: isTagged ? tag : undefined };
    const isNew = !isEarlier && (await copier.copy(content, from, to));
    this.tell({ kind: isNew ? 'copied' : 'present', source, digest });
    return {
      source,
      digest,
      path,
      tag,
      ...(catalog === undefined ? {} : { catalog }),
      ...(needs === undefined ? {} : { needs }),
      ...(isEarlier ? { isEarlier } : {}),
    };
  }

  #isEarlier(path: string, { manifests, blobs }: WholeImage): boolean {
    const known = this.#details.earlier?.get(path);
    return known !== undefined && [...manifests, ...blobs].every(({ digest }) => known.has(digest));
  }

  #note(path: string, { manifests, blobs }: WholeImage): void {
    const known = this.#content.get(path) ?? new Set();
    for (const { digest } of [...manifests, ...blobs]) known.add(digest);
    this.#content.set(path, known);
  }

  async #read(images: readonly ImageToCopy[]): Promise<readonly ReadImage[]> {
    const { platform, signal } = this.#options;
    const read: ReadImage[] = [];
    await inParallel(images, imagesAtOnce, async (image) => {
      const { source, host, repository, bundle, hasPart, isOther } = image;
      if (this.#failed.has(source)) return;
      await this.attempt({ source, bundle, host }, async () => {
        const { place, manifest } = await image.open();
        try {
          const wanted = { place, manifest, platform, hasPart, isOther, signal };
          const content = await readWholeImage({ ...wanted, withAttached: true });
          read.push({ image, content, from: { place, host, repository } });
        } catch (error) {
          if (image.isShared !== true) await place.close();
          throw error;
        }
      });
    });
    return read;
  }
}

interface ReadImage {
  readonly image: ImageToCopy;
  readonly content: WholeImage;
  readonly from: CopySource;
}
