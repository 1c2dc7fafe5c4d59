import { type JsonValue, stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import { checkObjectCount, checkObjectSize, toObjects } from './objects.ts';
import { parseManifests } from './parse-manifests.ts';

/**
 * Checks that content is a plain+v0 bundle, and returns its objects.
 * @throws TerminalError with the message of the Unpacked condition.
 */
export function readPlainBundle(
  files: BundleFiles,
  options: ReadManifestsOptions = {},
): ManifestFile[] {
  const manifests = orExplain(() => readManifestFiles(files, options));
  if (manifests.every((file) => file.objects.length === 0)) throw zeroObjects();
  return manifests;
}

/**
 * The Kubernetes objects of a folder `manifests` as class core-rukpak-io-plain applies them: in the
 * order of the files, without duplicates.
 * @throws TerminalError with the message of the Installed condition.
 */
export function objectsOf(
  files: BundleFiles,
  options: Pick<ReadManifestsOptions, 'maxObjects'> = {},
): readonly KubernetesObject[] {
  try {
    return distinctObjects(readManifestFiles(files, options));
  } catch (error) {
    throw new TerminalError(`read bundle objects from bundle: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

/** All objects of manifest files in order, without duplicates. */
export function distinctObjects(files: readonly ManifestFile[]): readonly KubernetesObject[] {
  const objects = files.flatMap((file) => file.objects);
  return [...Map.groupBy(objects, identityOf).values()].some(({ length }) => length > 1)
    ? [...new Map(objects.map((object) => [stringifyJson(object), object])).values()]
    : objects;
}

// Equal objects have equal names: only those are compared completely.
function identityOf({ kind, metadata }: KubernetesObject): string {
  return JSON.stringify([kind, metadata.namespace, metadata.name]);
}

/** Objects for the single file of a plain+v0 bundle. */
export interface PlainObjects {
  /** The file's path in the bundle. */
  readonly path: string;
  readonly objects: readonly KubernetesObject[];
}

/**
 * Checks objects as `readPlainBundle` would after they are written, without reading them again,
 * which would take many times longer.
 * @throws TerminalError as above.
 */
export function checkPlainObjects(
  { path, objects }: PlainObjects,
  maxObjects = Number.POSITIVE_INFINITY,
): void {
  const read = orExplain(() => {
    const flat = objects.flatMap((value) => toObjects(path, { value: value as JsonValue }));
    checkObjectCount(flat.length, maxObjects);
    for (const object of flat) checkObjectSize(object);
    return flat;
  });
  if (read.length === 0) throw zeroObjects();
}

function orExplain<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new TerminalError(`get objects from bundle manifests: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}

function zeroObjects(): TerminalError {
  return new TerminalError(
    'invalid bundle: found zero objects: plain+v0 bundles are required to contain at least one object',
  );
}

/** One file of a bundle's `manifests` directory. */
export interface ManifestFile {
  /** The file's path in the bundle: `manifests/<name>`. */
  readonly path: string;
  readonly objects: readonly KubernetesObject[];
}

/** Reads the objects of one manifest file. */
export type ManifestParser = typeof parseManifests;

/** A parser that parses a content only once, for callers that read the same files again. */
export function parsingOnce(parse: ManifestParser): ManifestParser {
  const known = new Map<Uint8Array, KubernetesObject[]>();
  return (path, content, maxObjects) => {
    const objects = known.get(content) ?? parse(path, content, maxObjects);
    known.set(content, objects);
    return objects;
  };
}

/** How `readManifestFiles` reads. */
export interface ReadManifestsOptions {
  /** Maximum number of objects in all files together. Defaults to no limit. */
  readonly maxObjects?: number;
  /**
   * The source's type, which decides the text for a missing directory (default: content from an
   * archive). A git tree without the directory just has no files.
   */
  readonly sourceType?: string | undefined;
  /** Reads one file differently, for callers that do not need the objects of plain bundles. */
  readonly parse?: ManifestParser;
}

/**
 * Reads the flat `manifests` directory of a bundle: every file with any name, in byte order.
 * @throws TerminalError without a prefix, at the first directory, unreadable file, too large
 * object, or object above `maxObjects`.
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
