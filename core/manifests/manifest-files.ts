import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import { TerminalError } from '../errors.ts';
import { checkObjectCount, checkObjectSize } from './object-bounds.ts';
import { parseManifests } from './parse-manifests.ts';

/** One file of a bundle's `manifests` directory. */
export interface ManifestFile {
  /** The file's path in the bundle: `manifests/<name>`. */
  readonly path: string;
  readonly objects: readonly KubernetesObject[];
}

/** How `readManifestFiles` reads. */
export interface ReadManifestsOptions {
  /** Objects in all files together; unlimited where absent. */
  readonly maxObjects?: number;
  /**
   * The source's type, on which the text for a missing directory depends; without one it is that of
   * content unpacked from an archive. A git tree without the directory just has no files.
   */
  readonly sourceType?: string | undefined;
  /** Reads one file, where objects are not wanted as plain bundles have them. */
  readonly parse?: typeof parseManifests;
}

/**
 * Reads the flat `manifests` directory of a bundle: every file whatever its name, in byte order.
 * @throws TerminalError without a prefix, at the first entry that is a directory or cannot be read,
 * or has an object that is too large, or one too many.
 */
export function readManifestFiles(
  files: BundleFiles,
  options: ReadManifestsOptions = {},
): ManifestFile[] {
  const { maxObjects = Number.POSITIVE_INFINITY, sourceType, parse = parseManifests } = options;
  if (!files.directories.has(directory)) return withoutDirectory(files, sourceType);
  let count = 0;
  return entriesOf(files).map((path) => {
    const content = files.files.get(path);
    if (content === undefined) {
      throw new TerminalError(
        `subdirectories are not allowed within the "manifests" directory of the bundle image filesystem: found "${path}"`,
      );
    }
    const objects = parse(path, content, maxObjects);
    count += objects.length;
    checkObjectCount(count, maxObjects);
    for (const object of objects) checkObjectSize(object);
    return { path, objects };
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
