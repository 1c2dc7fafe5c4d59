import {
  type BundleDeployment,
  type BundleFiles,
  errorMessage,
  type KubernetesObject,
  type ManifestFile,
  type ProvisionerContext,
  readManifestFiles,
  stringifyJson,
  TerminalError,
} from '../../core/sdk.ts';

/** The objects of a stored plain+v0 tree, in the order of its files; identical ones once. */
export async function plainObjects(
  files: BundleFiles,
  _deployment: BundleDeployment,
  { limits }: ProvisionerContext,
): Promise<readonly KubernetesObject[]> {
  return distinctObjects(readOrExplain(files, limits.maxEntries));
}

/** All objects of manifest files in order, identical ones once. */
export function distinctObjects(files: readonly ManifestFile[]): readonly KubernetesObject[] {
  const objects = files.flatMap((file) => file.objects);
  return [...Map.groupBy(objects, identityOf).values()].some(({ length }) => length > 1)
    ? [...new Map(objects.map((object) => [stringifyJson(object), object])).values()]
    : objects;
}

// What is the same has the same name; only what has takes the time to be compared as a whole.
function identityOf({ kind, metadata }: KubernetesObject): string {
  return JSON.stringify([kind, metadata.namespace, metadata.name]);
}

function readOrExplain(files: BundleFiles, maxObjects: number): readonly ManifestFile[] {
  try {
    return readManifestFiles(files, { maxObjects });
  } catch (error) {
    throw new TerminalError(`read bundle objects from bundle: ${errorMessage(error)}`, {
      cause: error,
    });
  }
}
