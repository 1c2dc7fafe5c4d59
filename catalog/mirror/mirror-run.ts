import { errorMessage } from '../../core/errors.ts';
import {
  type CopySource,
  type CopyTarget,
  type Descriptor,
  HostLimits,
  ImageCopier,
  type OpenedImage,
  type Platform,
  readWholeImage,
  type WholeImage,
} from '../../core/registry/index.ts';
import type { CarriedImage } from './carried-images.ts';
import { inParallel } from './in-parallel.ts';

/** What happens to the images of a run, for those who watch it. */
export type MirrorEvent =
  /** All images have been read: so many bytes belong to them, each blob counted once. */
  | { readonly kind: 'planned'; readonly images: number; readonly bytes: number }
  /** Bytes are there; those that were sent took time. */
  | { readonly kind: 'bytes'; readonly bytes: number; readonly sent: boolean }
  | { readonly kind: 'copied' | 'present'; readonly source: string; readonly digest: string }
  /** A catalog and its bundles are read, to know their images. */
  | { readonly kind: 'reading'; readonly source: string }
  /** What is mirrored that the image set does not name, and why. */
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'failed'; readonly source: string; readonly problem: string };

export interface MirrorRunOptions {
  /** Only images of this platform; indexes stay whole. */
  readonly platform?: Platform | undefined;
  /** Requests to one registry at the same time. */
  readonly perHost: number;
  readonly onEvent: (event: MirrorEvent) => void;
  readonly signal: AbortSignal;
}

/** An image to copy, and where it is. */
export interface ImageToCopy extends Omit<CarriedImage, 'digest'> {
  open(): Promise<OpenedImage>;
  readonly host: string;
  readonly repository: string;
  /** The bundle that names it. */
  readonly bundle?: string | undefined;
}

/** What is done for an image, and where it takes a turn. */
interface Attempt {
  readonly source: string;
  readonly bundle?: string | undefined;
  readonly host?: string | undefined;
}

/** A place for images; not all places have tags. */
export interface MirrorPlace extends Omit<CopyTarget, 'tag'> {
  readonly isTagged: boolean;
}

/** Images that are read, or copied, at the same time. */
export const imagesAtOnce = 8;

/** Copies images to one target. An image that cannot be copied is told, and the others are copied. */
export class MirrorRun {
  readonly #options: MirrorRunOptions;
  readonly #limits: HostLimits;
  readonly #failed = new Map<string, string>();

  constructor(options: MirrorRunOptions) {
    this.#options = options;
    this.#limits = new HostLimits(options.perHost);
  }

  /** Problems by the image that has them. */
  get failures(): ReadonlyMap<string, string> {
    return this.#failed;
  }

  /** Tells who watches the run. */
  tell(event: MirrorEvent): void {
    this.#options.onEvent(event);
  }

  /** Notes an image that cannot be copied. */
  fail({ source, bundle }: Attempt, error: unknown): void {
    const named = bundle === undefined ? '' : ` (bundle ${bundle} names it)`;
    const problem = `${errorMessage(error)}${named}`;
    this.#failed.set(source, problem);
    this.#options.onEvent({ kind: 'failed', source, problem });
  }

  /** Does what may fail without others failing: that is noted. */
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

  /** What was copied, or is there already. */
  async copy(
    images: readonly ImageToCopy[],
    target: (path: string) => MirrorPlace,
  ): Promise<readonly CarriedImage[]> {
    const read = await this.#read(images);
    try {
      this.#plan(read);
      const { onEvent, signal } = this.#options;
      const onBytes = this.#counter();
      const copier = new ImageCopier({ limits: this.#limits, onBytes, signal });
      const copied: CarriedImage[] = [];
      await inParallel(read, imagesAtOnce, async ({ image, content, from }) => {
        const { source, path, tag, catalog } = image;
        await this.attempt({ source, bundle: image.bundle }, async () => {
          const { isTagged, ...place } = target(path);
          const to = { ...place, tag: isTagged ? tag : undefined };
          const isNew = await copier.copy(content, from, to);
          const { digest } = content;
          copied.push({ source, digest, path, tag, ...(catalog === undefined ? {} : { catalog }) });
          onEvent({ kind: isNew ? 'copied' : 'present', source, digest });
        });
      });
      return copied.toSorted((a, b) => (a.source < b.source ? -1 : 1));
    } finally {
      for (const { from } of read) await from.place.close();
    }
  }

  async #read(images: readonly ImageToCopy[]): Promise<readonly ReadImage[]> {
    const { platform, signal } = this.#options;
    const read: ReadImage[] = [];
    await inParallel(images, imagesAtOnce, async (image) => {
      const { source, host, repository, bundle } = image;
      if (this.#failed.has(source)) return;
      await this.attempt({ source, bundle, host }, async () => {
        const { place, manifest } = await image.open();
        try {
          const wanted = { place, manifest, platform, withAttached: true, signal };
          const content = await readWholeImage(wanted);
          read.push({ image, content, from: { place, host, repository } });
        } catch (error) {
          await place.close();
          throw error;
        }
      });
    });
    return read;
  }

  #plan(read: readonly ReadImage[]): void {
    const blobs = new Map<string, Descriptor>();
    for (const { content } of read) {
      for (const blob of content.blobs) blobs.set(blob.digest, blob);
    }
    const bytes = [...blobs.values()].reduce((sum, { size }) => sum + size, 0);
    this.#options.onEvent({ kind: 'planned', images: read.length, bytes });
  }

  #counter(): (bytes: number, sent: boolean) => void {
    const { onEvent } = this.#options;
    return (bytes, sent) => {
      if (bytes > 0) onEvent({ kind: 'bytes', bytes, sent });
    };
  }
}

interface ReadImage {
  readonly image: ImageToCopy;
  readonly content: WholeImage;
  readonly from: CopySource;
}
