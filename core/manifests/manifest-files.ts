import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import { TerminalError } from '../errors.ts';
import { parseManifests } from './parse-manifests.ts';

export interface ManifestFile {
  /** The file's path in the bundle: `manifests/<name>`. */
  readonly path: string;
  readonly objects: readonly KubernetesObject[];
}

/**
 * Reads the flat `manifests` directory of a bundle: every file whatever its name, in byte order
 * (spec section 8.1). The text for a missing directory depends on the source's type; without a type
 * it is that of content unpacked from an archive, and a git tree without it just has no files.
 * `parse` reads one file, where objects are not wanted as plain bundles have them.
 * @throws TerminalError without a prefix, at the first entry that is a directory or cannot be read.
 */
export function readManifestFiles(
  files: BundleFiles,
  sourceType?: string,
  parse = parseManifests,
): ManifestFile[] {
  if (!files.directories.has(directory)) return withoutDirectory(files, sourceType);
  return entriesOf(files).map((path) => {
    const content = files.files.get(path);
    if (content === undefined) {
      throw new TerminalError(
        `subdirectories are not allowed within the "manifests" directory of the bundle image filesystem: found "${path}"`,
      );
    }
    return { path, objects: parse(path, content) };
  });
}

const directory = 'manifests';

function entriesOf(files: BundleFiles): string[] {
  return [...files.files.keys(), ...files.directories]
    .filter(isEntry)
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function isEntry(path: string): boolean {
  return path.startsWith(`${directory}/`) && !path.includes('/', directory.length + 1);
}

function withoutDirectory(files: BundleFiles, sourceType: string | undefined): ManifestFile[] {
  if (files.files.has(directory)) throw new TerminalError('readdir manifests: not a directory');
  if (sourceType === 'git') return [];
  const operation = sourceType === 'configMaps' ? 'open' : 'readdir';
  throw new TerminalError(`${operation} manifests: file does not exist`);
}
