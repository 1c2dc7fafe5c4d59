import {
  type BundleFiles,
  errorMessage,
  type KubernetesObject,
  type ManifestFile,
  parseObjects,
  readManifestFiles,
  TerminalError,
} from '../../core/sdk.ts';
import { readPackageName } from './annotations.ts';
import { readClusterServiceVersion } from './csv/cluster-service-version.ts';
import type { RegistryBundle } from './registry-bundle.ts';

export interface ReadBundleOptions {
  /** Type of the Bundle's source, which some messages depend on; that of archives where absent. */
  readonly sourceType?: string;
  /** How many objects the bundle may have; unlimited where absent. */
  readonly maxObjects?: number;
}

/**
 * Reads a registry+v1 bundle: the package's name, and the objects sorted by kind alone, whatever
 * their group. Dependencies, properties and channels are not looked at.
 * @throws TerminalError that names the file or field, without a prefix.
 */
export function readRegistryBundle(
  files: BundleFiles,
  options: ReadBundleOptions = {},
): RegistryBundle {
  const { sourceType = 'image' } = options;
  const packageName = readPackageName(files, sourceType);
  const manifests = readRegistryManifests(files, { ...options, sourceType });
  return registryBundleOf(
    packageName,
    manifests.flatMap((file) => file.objects),
  );
}

/** The files of a bundle with their objects, as they are read for conversion. @throws as above. */
export function readRegistryManifests(
  files: BundleFiles,
  options: ReadBundleOptions = {},
): readonly ManifestFile[] {
  return readManifestFiles(files, { ...options, parse: parseFile });
}

/** A bundle of these objects. @throws TerminalError where a field of the CSV has another type. */
export function registryBundleOf(
  packageName: string,
  objects: readonly KubernetesObject[],
): RegistryBundle {
  return {
    packageName,
    // Of several the last one counts, as in RukPak.
    csv: readClusterServiceVersion(objects.findLast(isKind('ClusterServiceVersion'))),
    crds: objects.filter(isKind('CustomResourceDefinition')),
    others: objects.filter((object) => !ownKinds.some((kind) => object.kind === kind)),
  };
}

function parseFile(path: string, content: Uint8Array, maxObjects?: number): KubernetesObject[] {
  try {
    return parseObjects(content, maxObjects);
  } catch (error) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    throw new TerminalError(`read "${name}": ${errorMessage(error)}`, { cause: error });
  }
}

const ownKinds: readonly string[] = ['ClusterServiceVersion', 'CustomResourceDefinition'];

function isKind(kind: string): (object: KubernetesObject) => boolean {
  return (object) => object.kind === kind;
}
