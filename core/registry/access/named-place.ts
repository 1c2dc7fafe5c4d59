import { statSync } from 'node:fs';
import { join } from 'node:path';
import { TerminalError } from '../../errors.ts';
import { layoutFile } from '../layouts/layout-index.ts';
import { digestProblem, type ImageReference, parseImageReference } from '../reference.ts';

/** Place of an image, catalog or bundle, as a user names it. */
export type NamedPlace =
  | { readonly kind: 'registry'; readonly reference: ImageReference }
  /** An OCI layout; `name` is the tag or digest of one of its images. */
  | { readonly kind: 'layout' | 'archive'; readonly path: string; readonly name?: string }
  /** A directory that is no OCI layout, or a file. */
  | { readonly kind: 'directory' | 'file'; readonly path: string };

const transports: Readonly<Record<string, 'layout' | 'archive'>> = {
  'oci:': 'layout',
  'oci-archive:': 'archive',
};

/**
 * Parses `registry/repo:tag`, `docker://registry/repo:tag`, `oci:DIR[:tag]`,
 * `oci-archive:FILE[:tag]`, and paths. A path that exists, or begins with `.`, `/` or `~`, is never
 * a reference.
 * @throws TerminalError for any other text
 */
export function parsePlace(text: string): NamedPlace {
  if (text.startsWith('docker://')) {
    return { kind: 'registry', reference: parseImageReference(text.slice('docker://'.length)) };
  }
  for (const [prefix, kind] of Object.entries(transports)) {
    if (text.startsWith(prefix)) return layoutOf(kind, text.slice(prefix.length));
  }
  return placeOnDisk(text) ?? { kind: 'registry', reference: parseImageReference(text) };
}

function placeOnDisk(path: string): NamedPlace | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) {
    const isLayout = statSync(join(path, layoutFile), { throwIfNoEntry: false })?.isFile();
    return { kind: isLayout === true ? 'layout' : 'directory', path };
  }
  if (stats !== undefined) return { kind: path.endsWith('.tar') ? 'archive' : 'file', path };
  if (/^[./~]/.test(path)) throw new TerminalError(`open ${path}: no such file or directory`);
  return undefined;
}

/** The first colon ends the path, as it does for skopeo. */
function layoutOf(kind: 'layout' | 'archive', text: string): NamedPlace {
  const [, path = '', name] = /^([^:@]*)(?:[:@](.+))?$/s.exec(text) ?? [];
  if (path === '') throw new TerminalError(`"${text}" names no path of an OCI layout`);
  return name === undefined ? { kind, path } : { kind, path, name };
}

/** @throws TerminalError for a place to write to that names the digest of an image */
export function refuseDigest(place: NamedPlace, named: string | NamedPlace): void {
  const version =
    place.kind === 'registry' ? place.reference.digest : 'name' in place && place.name;
  if (!version || digestProblem(version) !== undefined) return;
  const shown = typeof named === 'string' ? named : version;
  throw new TerminalError(
    `${shown} names a digest, which an image gets from its content: name a tag`,
  );
}
