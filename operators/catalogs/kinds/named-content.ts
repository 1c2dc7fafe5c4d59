import { parseImageReference, repositoryName } from '../../../core/registry/index.ts';
import { CatalogFailure } from '../source/catalog-failure.ts';
import type { CatalogRequest } from './catalog-kind.ts';

/**
 * The content that the status names, as `<repository>@<digest>`; undefined if it names none of the
 * spec's image. A user who may write only the status must not choose another repository, or replace
 * a digest.
 */
export function namedContent({
  image,
  remembered: { resolvedRef },
}: Pick<CatalogRequest, 'image' | 'remembered'>): string | undefined {
  if (image instanceof CatalogFailure) return undefined;
  return isOf(image.ref, resolvedRef) ? resolvedRef : undefined;
}

/** Whether a reference can stand for a digest: of its repository, and its own digest if it has one. */
export function isOf(ref: string | undefined, resolvedRef: string | undefined): boolean {
  if (ref === undefined || resolvedRef === undefined) return false;
  try {
    const reference = parseImageReference(ref);
    const { digest } = reference;
    const prefix = `${repositoryName(reference)}@`;
    return digest === undefined
      ? resolvedRef.startsWith(prefix)
      : resolvedRef === `${prefix}${digest}`;
  } catch {
    return false;
  }
}
