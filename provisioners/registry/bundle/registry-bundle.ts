import {
  type BundleFiles,
  errorMessage,
  type KubernetesObject,
  type ManifestFile,
  type parseManifests,
  parseObjects,
  parseYaml,
  readManifestFiles,
  TerminalError,
} from '../../../core/sdk.ts';
import {
  type ClusterServiceVersion,
  readClusterServiceVersion,
} from './cluster-service-version.ts';
import { Field } from './field.ts';

/** The content of a registry+v1 bundle for validators and generators. */
export interface RegistryBundle {
  readonly packageName: string;
  readonly csv: ClusterServiceVersion;
  readonly crds: readonly KubernetesObject[];
  /** Every object that is neither a ClusterServiceVersion nor a CustomResourceDefinition. */
  readonly others: readonly KubernetesObject[];
}

/** Why a bundle cannot be converted, and the remedy. */
export interface BundleProblem {
  readonly message: string;
  /**
   * The webhook, owned APIService or manifest with the problem; undefined for the bundle as a
   * whole.
   */
  readonly item?: object;
}

export interface ReadBundleOptions {
  /** Type of the Bundle's source, on which some messages depend. Defaults to that of archives. */
  readonly sourceType?: string;
  /** Maximum number of objects. Defaults to no limit. */
  readonly maxObjects?: number;
  /** Reads one file (default: `parseRegistryManifest`). */
  readonly parse?: typeof parseManifests;
}

/**
 * Reads a registry+v1 bundle: the package's name, and the objects by kind, in any group. Ignores
 * dependencies, properties and channels.
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

/** The files of a bundle with their objects, as read for conversion. @throws as above. */
export function readRegistryManifests(
  files: BundleFiles,
  options: ReadBundleOptions = {},
): readonly ManifestFile[] {
  return readManifestFiles(files, { parse: parseRegistryManifest, ...options });
}

/** A bundle of these objects. @throws TerminalError where a field of the CSV has another type. */
export function registryBundleOf(
  packageName: string,
  objects: readonly KubernetesObject[],
): RegistryBundle {
  return {
    packageName,
    // The last of several counts, as in RukPak.
    csv: readClusterServiceVersion(objects.findLast(isKind('ClusterServiceVersion'))),
    crds: objects.filter(isKind('CustomResourceDefinition')),
    others: objects.filter((object) => !ownKinds.some((kind) => object.kind === kind)),
  };
}

/** Reads one manifest file as OLM does: a list stays one object. @throws TerminalError */
export function parseRegistryManifest(
  path: string,
  content: Uint8Array,
  maxObjects?: number,
): KubernetesObject[] {
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

const path = 'metadata/annotations.yaml';
const packageKey = 'operators.operatorframework.io.bundle.package.v1';

/**
 * The package's name from the bundle's annotations; empty without one.
 * @throws TerminalError when the file is missing or invalid.
 */
export function readPackageName(files: BundleFiles, sourceType: string): string {
  const content = files.files.get(path);
  if (content === undefined) throw missing(sourceType);
  try {
    const annotations = new Field(parseYaml(content), '').get('annotations');
    return annotations.get(packageKey).coercedString();
  } catch (error) {
    throw new TerminalError(`${path}: ${errorMessage(error)}`, { cause: error });
  }
}

// RukPak's text for a missing file differs between archives and other trees.
function missing(sourceType: string): TerminalError {
  const operation = sourceType === 'git' || sourceType === 'configMaps' ? 'open' : 'readfile';
  return new TerminalError(`${operation} ${path}: file does not exist`);
}
