import { type JsonValue, stringifyJson } from '../../api/json.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import { errorMessage, TerminalError } from '../errors.ts';
import {
  type ManifestFile,
  type ReadManifestsOptions,
  readManifestFiles,
} from './manifest-files.ts';
import { checkObjectCount, checkObjectSize } from './object-bounds.ts';
import { toObjects } from './objects.ts';

/**
 * Checks that content is a plain+v0 bundle and returns what it holds.
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
 * The Kubernetes objects of a folder `manifests` as class core-rukpak-io-plain applies them: in the order
 * of the files, identical ones once.
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

/** All objects of manifest files in order, identical ones once. */
export function distinctObjects(files: readonly ManifestFile[]): readonly KubernetesObject[] {
  const objects = files.flatMap((file) => file.objects);
  return [...Map.groupBy(objects, identityOf).values()].some(({ length }) => length > 1)
    ? [...new Map(objects.map((object) => [stringifyJson(object), object])).values()]
    : objects;
}

// Equal objects have equal names: only those take the time to be compared as a whole.
function identityOf({ kind, metadata }: KubernetesObject): string {
  return JSON.stringify([kind, metadata.namespace, metadata.name]);
}

/** Objects that are to be the one file of a plain+v0 bundle. */
export interface PlainObjects {
  /** The file's path in the bundle. */
  readonly path: string;
  readonly objects: readonly KubernetesObject[];
}

/**
 * Checks objects as `readPlainBundle` does once they are written, which reading them again would
 * take many times longer.
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
