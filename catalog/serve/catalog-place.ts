import { existsSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { goQuote } from '../../api/go-quote.ts';
import { TerminalError } from '../../core/errors.ts';
import { digestOf } from '../../core/registry/reference.ts';
import { attributesDigest } from '../index/index.ts';
import { type OpenCatalogOptions, openCatalog } from '../load/index.ts';
import type { ContentCache } from './content-cache.ts';
import type { ServedContent } from './served-content.ts';

/** A catalog to serve: its place, and its name in the paths of requests. */
export interface CatalogPlace {
  readonly name: string;
  /** As `openCatalog` reads it. */
  readonly place: string;
}

const namePattern = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,251}[A-Za-z0-9])?$/;

/**
 * Reads `PLACE` or `NAME=PLACE`. The name defaults to the last part of the path or repository.
 * @throws TerminalError for an invalid name
 */
export function parseCatalogPlace(text: string): CatalogPlace {
  const [, given, rest] = /^([^=/:]*)=(.*)$/s.exec(text) ?? [];
  const place = rest ?? text;
  const name = given ?? nameOf(place);
  if (place !== '' && namePattern.test(name)) return { name, place };
  throw new TerminalError(
    `${goQuote(text)} gives the catalog no name: use NAME=PLACE, where NAME has letters, digits, ".", "_" and "-"`,
  );
}

function nameOf(place: string): string {
  const path = place.replace(/^(?:docker:\/\/|oci:|oci-archive:)/, '').replace(/@.*$/, '');
  return basename(resolve(path)).replace(/(?:\.tar)?(?::.*)?$/, '');
}

/**
 * The same place with an absolute path for a directory: it stays valid when the working directory
 * changes, or the directory is missing for a while.
 */
export function fixedPlace({ name, place }: CatalogPlace): CatalogPlace {
  return { name, place: isDirectory(place) ? resolve(place) : place };
}

/**
 * Identifies the state of a catalog without reading it: by its files' attributes, or the digest of
 * the image.
 */
export async function stateOfPlace(
  { place }: CatalogPlace,
  { registry, signal }: OpenCatalogOptions,
): Promise<string> {
  const isCatalog = isDirectory(place) && !existsSync(join(place, 'oci-layout'));
  if (isCatalog) return await attributesDigest(place);
  const image = await (await registry()).open(place, signal);
  await image.place.close();
  return digestOf(image.manifest.bytes);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/**
 * The content to serve for a catalog, from the cache if that was built from the same files.
 * @throws TerminalError for an invalid catalog; errors of the registry
 */
export async function contentOfPlace(
  { place }: CatalogPlace,
  cache: ContentCache,
  options: OpenCatalogOptions,
): Promise<ServedContent> {
  const catalog = await openCatalog(place, options);
  try {
    return await cache.open(catalog.dir, { signal: options.signal });
  } finally {
    await catalog.close();
  }
}
