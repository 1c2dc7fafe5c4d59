import { isMap, mapOf } from '../../api/json-fields.ts';
import type { BundleFiles } from '../../core/contracts/bundle-files.ts';
import {
  type JsonValue,
  type KubernetesObject,
  type ManifestFile,
  parseYaml,
} from '../../core/sdk.ts';
import { type Finding, type Problem, readingProblem } from './problem.ts';
import { type FieldPath, type FieldPlace, SourceLines } from './source-lines.ts';

/** A file of `metadata/` with its content, or the field that a check needs. */
export interface MetadataFile {
  readonly file: string;
  readonly value: JsonValue | undefined;
}

/** The readable content of a registry+v1 bundle, for checks. */
export interface BundleContent {
  readonly files: BundleFiles;
  readonly lines: SourceLines;
  readonly objects: readonly LocatedObject[];
  /** The last one of several. */
  readonly csv: LocatedObject | undefined;
  readonly csvName: string;
  readonly crds: readonly LocatedObject[];
  readonly annotations: MetadataFile | undefined;
  readonly dependencies: MetadataFile | undefined;
  readonly properties: MetadataFile | undefined;
}

export const annotationPrefix = 'operators.operatorframework.io.bundle.';

export function bundleContent(
  files: BundleFiles,
  objects: readonly LocatedObject[],
  lines: SourceLines = new SourceLines(files),
): BundleContent {
  const metadata = metadataFiles(files);
  const csv = objects.findLast(({ object }) => object.kind === 'ClusterServiceVersion');
  const name = csv?.object.metadata.name;
  return {
    files,
    lines,
    objects,
    csv,
    csvName: typeof name === 'string' ? name : '',
    crds: objects.filter(({ object }) => object.kind === 'CustomResourceDefinition'),
    annotations: metadataField(metadata, 'annotations', hasPackage),
    dependencies: metadataField(metadata, 'dependencies', isFilled),
    properties: metadataField(metadata, 'properties', isFilled),
  };
}

/** The place of a field of an object. */
export function placeOf(located: LocatedObject, ...path: FieldPath): FieldPlace {
  const { file, document } = located;
  return { file, document, path };
}

/** The place of a file as a whole. */
export function fileAlone(file: string): FieldPlace {
  return { file, document: -1, path: [] };
}

export function annotationsOf({ annotations }: BundleContent): Readonly<Record<string, string>> {
  const entries = Object.entries(mapOf(annotations?.value));
  return Object.fromEntries(entries.map(([key, value]) => [key, scalarText(value)]));
}

// In the order of names. Catalog tools find metadata by content, whatever the names.
export function metadataFiles({ files }: BundleFiles): readonly MetadataFile[] {
  return [...files]
    .filter(([path]) => /^metadata\/[^/]+$/.test(path))
    .map(([file, content]) => ({ file, value: readOrNothing(content) }));
}

function readOrNothing(content: Uint8Array): JsonValue | undefined {
  try {
    return parseYaml(content);
  } catch {
    return undefined;
  }
}

function metadataField(
  metadata: readonly MetadataFile[],
  field: string,
  isIt: (value: unknown) => boolean,
): MetadataFile | undefined {
  return metadata
    .map(({ file, value }) => ({ file, value: isMap(value) ? value[field] : undefined }))
    .find(({ value }) => isIt(value));
}

function hasPackage(value: unknown): boolean {
  const keys = ['package.v1', 'channels.v1', 'channel.default.v1'];
  return keys.some((key) => Boolean(mapOf(value)[annotationPrefix + key]));
}

function isFilled(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** An object and its place. */
export interface LocatedObject {
  readonly file: string;
  /** Index of the document in the file, from 0; lists of other objects count as their items. */
  readonly document: number;
  readonly object: KubernetesObject;
}

interface ManifestObjects {
  readonly objects: readonly LocatedObject[];
  readonly problems: readonly Problem[];
}

const directory = 'manifests';

/**
 * Reads each entry of the manifests directory separately, by the rules of a class, so that an error
 * in one does not hide the next.
 */
export function manifestObjects(
  files: BundleFiles,
  read: (files: BundleFiles) => readonly ManifestFile[],
): ManifestObjects {
  const objects: LocatedObject[] = [];
  const problems: Problem[] = [];
  for (const path of entriesOf(files)) {
    try {
      for (const file of read(onlyEntry(files, path))) {
        objects.push(
          ...file.objects.map((object, document) => ({ file: file.path, document, object })),
        );
      }
    } catch (error) {
      const fix = files.directories.has(path)
        ? `move its files into ${directory}/ itself, or out of it`
        : 'correct the file';
      problems.push(readingProblem(error, { file: path, fix }));
    }
  }
  return { objects, problems };
}

function entriesOf({ files, directories }: BundleFiles): readonly string[] {
  return [...files.keys(), ...directories]
    .filter((path) => path.startsWith(`${directory}/`))
    .filter((path) => !path.includes('/', directory.length + 1))
    .toSorted();
}

function onlyEntry(files: BundleFiles, path: string): BundleFiles {
  const content = files.files.get(path);
  return {
    files: new Map(content === undefined ? [] : [[path, content]]),
    directories: new Set([directory, ...(content === undefined ? [path] : [])]),
  };
}

/** A number, boolean or string as text; empty for anything else. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isScalar(value) ? value.toString() : '';
}

function isScalar(value: unknown): value is number | bigint | boolean {
  return ['number', 'bigint', 'boolean'].includes(typeof value);
}

/** User options of the checks. */
export interface CheckOptions {
  /** Kubernetes version for the check of removed APIs; defaults to minKubeVersion. */
  readonly kubeVersion?: string;
}

/** A validator of bundles, like those of catalog tools. Pure. */
export interface Check {
  /** The name in operator-sdk, if it has the check. */
  readonly name: string;
  readonly summary: string;
  /** Runs only on request. */
  readonly optional: boolean;
  /** True if the API server rejects what the check calls an error. */
  readonly blocking?: boolean;
  readonly find: (bundle: BundleContent, options: CheckOptions) => readonly Finding[];
}
