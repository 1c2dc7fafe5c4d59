import {
  type Bundle,
  type BundleDeployment,
  type BundleFiles,
  defineProvisioner,
  errorMessage,
  type KubernetesObject,
  type ManifestFile,
  type ProvisionerContext,
  readManifestFiles,
  readPlainBundle,
  stringifyJson,
  TerminalError,
} from '../../core/sdk.ts';

/** plain+v0: a flat `manifests` directory of objects, applied as they are. */
// oxlint-disable-next-line import/no-default-export -- what every provisioner's module exports
export default defineProvisioner({
  className: 'core-rukpak-io-plain',
  bundle: validate,
  deployment: plainObjects,
});

/** Passes a plain+v0 tree on unchanged, files outside of `manifests` included. */
async function validate(
  files: BundleFiles,
  bundle: Bundle,
  { limits }: ProvisionerContext,
): Promise<BundleFiles> {
  readPlainBundle(files, { sourceType: bundle.spec.source.type, maxObjects: limits.maxEntries });
  return files;
}

/** The objects of a stored plain+v0 tree, in the order of its files; identical ones once. */
async function plainObjects(
  files: BundleFiles,
  _deployment: BundleDeployment,
  { limits }: ProvisionerContext,
): Promise<readonly KubernetesObject[]> {
  try {
    return distinctObjects(readManifestFiles(files, { maxObjects: limits.maxEntries }));
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
