import { TerminalError } from '../../core/errors.ts';
import type { OpenedImage } from '../../core/registry/index.ts';
import { shortList } from '../../core/short-list.ts';
import type { CarriedImage } from './carried-images.ts';

/** An image to copy, and its place. */
export interface ImageToCopy extends Omit<CarriedImage, 'digest'> {
  open(): Promise<OpenedImage>;
  readonly host: string;
  readonly repository: string;
  /** The bundle that names it. */
  readonly bundle?: string | undefined;
  /** Whether the place has an image of an index. Defaults to all. */
  readonly hasPart?: ((digest: string) => Promise<boolean>) | undefined;
  /** Whether a manifest of the place that cannot be read belongs to other images. Defaults to none. */
  readonly isOther?: ((digest: string) => boolean) | undefined;
  /** Other images share the place; only its opener closes it. */
  readonly isShared?: boolean | undefined;
}

/** A part of a catalog that is about to replace another one under its tag on the target. */
export interface ReplacedCatalog {
  /** Of the repository on the target. */
  readonly name: string;
  readonly tag: string;
  readonly before: OpenedImage;
  readonly after: OpenedImage;
}

/**
 * Bundles come after their images, and catalogs after bundles: a cluster may poll the mirror
 * meanwhile, and the run may be killed.
 */
export function stagesOf<T extends { readonly image: Pick<ImageToCopy, 'catalog' | 'needs'> }>(
  read: readonly T[],
): readonly (readonly T[])[] {
  const {
    bundles = [],
    catalogs = [],
    others = [],
  } = Object.groupBy(read, ({ image }) => {
    if (image.catalog !== undefined) return 'catalogs';
    return image.needs === undefined ? 'others' : 'bundles';
  });
  return [others, bundles, catalogs];
}

/** @throws TerminalError for a bundle of whose images one has failed */
export function checkNeeds(
  needs: readonly string[] = [],
  failures: ReadonlyMap<string, unknown>,
): void {
  const failed = needs.filter((source) => failures.has(source));
  if (failed.length === 0) return;
  const which = failed.length === 1 ? 'this one' : 'these';
  throw new TerminalError(
    `left out, because clusters must not install it without its images, and ${which} failed: ${shortList(failed, 3)}`,
  );
}
