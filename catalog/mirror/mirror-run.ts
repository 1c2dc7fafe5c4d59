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
}

/** A place for images; not all places have tags. */
export interface MirrorPlace extends Omit<CopyTarget, 'tag'> {
  readonly isTagged: boolean;
}

/** Images that are read, or copied, at the same time. */
const imagesAtOnce = 8;

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

  /** Notes an image that cannot be copied. */
  fail(source: string, error: unknown): void {
    const problem = errorMessage(error);
    this.#failed.set(source, problem);
    this.#options.onEvent({ kind: 'failed', source, problem });
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
        const { source, path, tag } = image;
        await this.#unlessFailed(source, async () => {
          const { isTagged, ...place } = target(path);
          const to = { ...place, tag: isTagged ? tag : undefined };
          const isNew = await copier.copy(content, from, to);
          const { digest } = content;
          copied.push({ source, digest, path, tag });
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
      const { source, host, repository } = image;
      await this.#unlessFailed(source, async () => {
        const { place, manifest } = await image.open();
        try {
          const wanted = { place, manifest, platform, withAttached: true, signal };
          const content = await this.#limits.run([host], () => readWholeImage(wanted));
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

  async #unlessFailed(source: string, work: () => Promise<void>): Promise<void> {
    this.#options.signal.throwIfAborted();
    try {
      await work();
    } catch (error) {
      this.#options.signal.throwIfAborted();
      this.fail(source, error);
    }
  }
}

interface ReadImage {
  readonly image: ImageToCopy;
  readonly content: WholeImage;
  readonly from: CopySource;
}
