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
  return [...new Map(objects.map((object) => [stringifyJson(object), object])).values()];
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
