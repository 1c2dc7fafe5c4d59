import { errorMessage, quoted, TerminalError } from '../../core/errors.ts';
import {
  canonicalRepository,
  type ImageReference,
  manifestReference,
  parseImageReference,
} from '../../core/registry/index.ts';

/** An image to mirror. */
export interface WantedImage {
  /** `<registry>/<path>` with the tag, digest or both of the reference. */
  readonly source: string;
  readonly reference: ImageReference;
  /** Repository below the target. */
  readonly path: string;
  readonly tag: string;
  /** The first bundle that names it; undefined for an image of the image set. */
  readonly bundle?: string | undefined;
}

/** An image whose name cannot be mirrored: the run reports it, and mirrors the others. */
export interface RefusedName {
  readonly image: string;
  readonly problem: string;
  readonly bundle?: string | undefined;
}

/** The images to mirror, without duplicates, in the order in which they were added. */
export class MirrorList {
  readonly #images = new Map<string, WantedImage>();
  /** Sources of the images that a bundle names, by the source of the bundle's image. */
  readonly #needs = new Map<string, Set<string>>();
  /** Sources by repository and tag on the target. */
  readonly #tags = new Map<string, string>();
  readonly #blocked: readonly ImageReference[];
  readonly refused: RefusedName[] = [];

  constructor(blockedImages: readonly string[]) {
    this.#blocked = blockedImages.map((image) =>
      // Without tag and digest, it blocks the whole repository.
      /@|:[^/]*$/.test(image) ? parseImageReference(image) : repositoryOf(image),
    );
  }

  get images(): readonly WantedImage[] {
    return [...this.#images.values()];
  }

  /** @returns the listed image; undefined if it is blocked or refused */
  add(image: string, bundle?: string): WantedImage | undefined {
    try {
      return this.#add(parseImageReference(withoutScheme(image)), bundle);
    } catch (error) {
      this.refused.push({ image, bundle, problem: errorMessage(error) });
      return undefined;
    }
  }

  /** Adds an image that a bundle names; `of` is the bundle's own one. */
  addOfBundle(image: string, bundle: string, of: WantedImage | undefined): void {
    const source = this.add(image, bundle)?.source ?? image;
    // No cluster can pull what is no reference, from a mirror or not.
    if (of === undefined || of.source === source || !isReference(image)) return;
    this.#needs.set(of.source, (this.#needs.get(of.source) ?? new Set()).add(source));
  }

  /** The images that a bundle's image needs, as far as they are not blocked; undefined for others. */
  needsOf({ source }: WantedImage): readonly string[] | undefined {
    const needs = this.#needs.get(source);
    return needs && [...needs].toSorted();
  }

  /** Copies a listed image by another reference: with the digest that has been read. */
  pin(image: WantedImage, reference: ImageReference): void {
    this.#images.set(image.source, { ...image, reference });
  }

  /**
   * Reserves a tag of the mirror for one image.
   * @throws TerminalError if another image has it
   */
  claimTag(path: string, tag: string, source: string): void {
    const key = `${path}:${tag}`;
    const other = this.#tags.get(key);
    if (other !== undefined) {
      throw new TerminalError(
        `on the mirror it would be ${quoted(key)}, as ${quoted(other)} is already: name one of them by its digest`,
      );
    }
    this.#tags.set(key, source);
  }

  #add(reference: ImageReference, bundle: string | undefined): WantedImage | undefined {
    const source = sourceText(reference);
    const listed = this.#images.get(source);
    if (listed !== undefined) return listed;
    if (this.#isBlocked(reference)) return undefined;
    const { path, digest } = reference;
    // Ignores a tag beside a digest: the same tag may stand beside several digests.
    const tag = digest === undefined ? manifestReference(reference) : tagOfDigest(digest);
    if (digest === undefined) this.claimTag(path, tag, source);
    const wanted = { source, reference, path, tag, bundle };
    this.#images.set(source, wanted);
    return wanted;
  }

  #isBlocked(reference: ImageReference): boolean {
    const { tag, digest } = reference;
    const repository = canonicalRepository(reference);
    return this.#blocked.some(
      (blocked) =>
        canonicalRepository(blocked) === repository &&
        (blocked.tag === undefined || blocked.tag === tag) &&
        (blocked.digest === undefined || blocked.digest === digest),
    );
  }
}

/** Operators write images so that others than nodes load, such as the plugins of a proxy. */
function withoutScheme(image: string): string {
  return image.replace(/^(?:oci|docker):\/\//, '');
}

function isReference(image: string): boolean {
  try {
    parseImageReference(withoutScheme(image));
    return true;
  } catch {
    return false;
  }
}

function repositoryOf(image: string): ImageReference {
  const { domain, path } = parseImageReference(image);
  return { domain, path };
}

/** `<registry>/<path>[:<tag>][@<digest>]`. */
export function sourceText({ domain, path, tag, digest }: ImageReference): string {
  const version = tag === undefined ? '' : `:${tag}`;
  return `${domain}/${path}${version}${digest === undefined ? '' : `@${digest}`}`;
}

/**
 * A tag for an image that is referenced only by digest: registries delete untagged images. Not
 * `sha256-…`, which names signatures and referrers.
 */
export function tagOfDigest(digest: string): string {
  return `mirrored-${digest.slice(digest.indexOf(':') + 1).slice(0, 32)}`;
}
