import { isMap, mapOf } from '../../../../api/json-fields.ts';
import type { BundleFiles } from '../../../../core/contracts/bundle-files.ts';
import { type JsonValue, parseYaml } from '../../../../core/sdk.ts';
import type { LocatedObject } from '../manifest-objects.ts';
import { type FieldPath, type FieldPlace, SourceLines } from '../source-lines.ts';
import { scalarText } from './scalar-text.ts';

/** A file of `metadata/` that holds what is looked for. */
export interface MetadataFile {
  readonly file: string;
  readonly value: JsonValue | undefined;
}

/** What a registry+v1 bundle holds, as far as it can be read, as checks see it. */
export interface BundleContent {
  readonly files: BundleFiles;
  readonly lines: SourceLines;
  readonly objects: readonly LocatedObject[];
  /** Of several the last one. */
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
    annotations: fieldOf(metadata, 'annotations', hasPackage),
    dependencies: fieldOf(metadata, 'dependencies', isFilled),
    properties: fieldOf(metadata, 'properties', isFilled),
  };
}

/** A field of an object. */
export function placeOf(located: LocatedObject, ...path: FieldPath): FieldPlace {
  const { file, document } = located;
  return { file, document, path };
}

/** A file, where no field of it is meant. */
export function fileAlone(file: string): FieldPlace {
  return { file, document: -1, path: [] };
}

export function annotationsOf({ annotations }: BundleContent): Readonly<Record<string, string>> {
  const entries = Object.entries(mapOf(annotations?.value));
  return Object.fromEntries(entries.map(([key, value]) => [key, scalarText(value)]));
}

// As catalogs' tools find them: by what is in them, whatever their names, in the order of names.
function metadataFiles({ files }: BundleFiles): readonly MetadataFile[] {
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

function fieldOf(
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
