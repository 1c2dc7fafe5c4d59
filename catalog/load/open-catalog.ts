import { statSync } from 'node:fs';
import { join } from 'node:path';
import { TerminalError } from '../../core/errors.ts';
import type { RegistryAccess } from '../../core/registry/index.ts';

export interface OpenCatalogOptions {
  /** Called for images and OCI layouts only: a directory needs no registry client. */
  readonly registry: () => Promise<RegistryAccess>;
  readonly signal: AbortSignal;
}

/** A file-based catalog on disk. */
export interface OpenedCatalog {
  /** Directory with the catalog's files, for `loadDirectory`. */
  readonly dir: string;
  /** Deletes unpacked files; a directory that the user named stays. */
  close(): Promise<void>;
}

/**
 * Opens a catalog: a directory, an image (`registry/repo:tag`, `docker://…`) or an OCI layout (a
 * directory or tar of one, `oci:DIR[:tag]`, `oci-archive:FILE[:tag]`). Of an image, only the
 * catalog is unpacked, into a temporary directory.
 * @throws TerminalError for anything but a catalog; errors of the registry.
 */
export async function openCatalog(
  place: string,
  { registry, signal }: OpenCatalogOptions,
): Promise<OpenedCatalog> {
  if (isDirectory(place) && !isLayout(place)) return { dir: place, close: nothing };
  if (isFile(place) && !place.endsWith('.tar')) {
    throw new TerminalError(
      `${place} is a file: name the directory of the catalog, an image or an OCI layout`,
    );
  }
  if (!withTransportOrRegistry.test(place) && !isFile(place) && !isDirectory(place)) {
    throw new TerminalError(
      `there is no directory ${place}: name the directory of the catalog, an OCI layout, or an image with its registry, such as docker.io/org/catalog:v1`,
    );
  }
  const { configsLabel, unpackTemporarily } = await import('../images/index.ts');
  const only = (labels: Readonly<Record<string, string>>): string =>
    pathInImage(place, labels[configsLabel], configsLabel);
  const image = await unpackTemporarily(place, { registry: await registry(), signal, only });
  const path = only(image.labels);
  const dir = join(image.dir, path);
  if (isDirectory(dir)) return { dir, close: () => image.close() };
  await image.close();
  throw new TerminalError(
    `image ${place} has no directory ${path}, which its label ${configsLabel} names`,
  );
}

/**
 * Images need a registry, because Docker Hub would get the name of a mistyped directory. Paths
 * match too: the registry client recognizes them.
 */
const withTransportOrRegistry =
  /^(?:[./~]|docker:\/\/|oci:|oci-archive:|localhost\/|[^/]*[.:][^/]*\/)/;

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isLayout(dir: string): boolean {
  return isFile(join(dir, 'oci-layout'));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** The path of the label, kept within the image. */
function pathInImage(place: string, path: string | undefined, label: string): string {
  if (path !== undefined) return join('/', path);
  throw new TerminalError(
    `image ${place} is no file-based catalog: it has no label ${label}. Convert an SQLite catalog with rukpakctl catalog migrate`,
  );
}

async function nothing(): Promise<void> {}
