import { readFile, stat } from 'node:fs/promises';
import { z } from 'zod';
import { record } from '../../api/record.ts';
import { errorMessage, TerminalError } from '../../core/errors.ts';
import {
  blobBytes,
  digestOf,
  digestProblem,
  type ImagePlace,
  type ImageTarget,
  manifestParts,
  mediaTypes,
  parseImageReference,
  type RegistryAccess,
} from '../../core/registry/index.ts';
import type { CarriedImage } from './carried-images.ts';
import { carriedPlace } from './carried-place.ts';

/** Content of a directory or tar, and of the earlier ones that it continues. */
export interface CarriedRecord {
  readonly images: readonly CarriedImage[];
  /** Manifests and blobs of its images. */
  readonly content: CarriedContent;
  /** Content of earlier directories and tars, which the target has after their push. */
  readonly earlier: CarriedContent;
}

/** Digests of manifests and blobs, by their repository below the target. */
export type CarriedContent = ReadonlyMap<string, ReadonlySet<string>>;

/** All content that the target has after a directory or tar has been pushed. */
export function contentSince({ content, earlier }: CarriedRecord): CarriedContent {
  return joined(earlier, content);
}

export function joined(one: CarriedContent, other: CarriedContent): CarriedContent {
  const all = new Map([...one].map(([path, digests]) => [path, new Set(digests)]));
  for (const [path, digests] of other) {
    all.set(path, new Set([...(all.get(path) ?? []), ...digests]));
  }
  return all;
}

/** Name of the record, which is an artifact in the layout. */
export const recordName = 'mirror-record';
const recordType = 'application/vnd.rukpak.mirror.v1+json';
const maxRecordSize = 256 * 1024 * 1024;
const emptyConfig = Buffer.from('{}');

const catalogSchema = z.strictObject({ directory: z.string(), isPruned: z.boolean() });
const imageSchema = z
  .strictObject({
    source: z.string(),
    digest: z.string().refine((text) => digestProblem(text) === undefined, 'it is no digest'),
    path: z.string().refine(isReference, 'it is no repository'),
    tag: z.string().regex(/^\w[\w.-]{0,127}$/, 'it is no tag'),
    catalog: catalogSchema.optional(),
    needs: z.array(z.string()).optional(),
    isEarlier: z.literal(true).optional(),
  })
  .refine(({ source, catalog }) => catalog?.isPruned === true || isReference(source), {
    path: ['source'],
    error: 'it is no image',
  });
const contentSchema = record(z.array(z.string()));
const recordSchema = z.strictObject({
  version: z.literal(1),
  images: z.array(imageSchema),
  content: contentSchema,
  earlier: contentSchema,
});

/** The record as the text of a file. */
export function recordText({ images, content, earlier }: CarriedRecord): string {
  const written = { version: 1, images, content: lists(content), earlier: lists(earlier) };
  return `${JSON.stringify(written, undefined, 1)}\n`;
}

function lists(content: CarriedContent): Readonly<Record<string, readonly string[]>> {
  const found = [...content].map(([path, digests]) => [path, [...digests].toSorted()] as const);
  return Object.fromEntries(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Writes the record into a layout. */
export async function writeRecord(
  target: ImageTarget,
  carried: CarriedRecord,
  signal: AbortSignal,
): Promise<void> {
  const bytes = Buffer.from(recordText(carried));
  const parts = [
    { mediaType: 'application/vnd.oci.empty.v1+json', bytes: emptyConfig },
    { mediaType: recordType, bytes },
  ].map((part) => ({
    bytes: part.bytes,
    descriptor: {
      mediaType: part.mediaType,
      digest: digestOf(part.bytes),
      size: part.bytes.byteLength,
    },
  }));
  for (const part of parts) {
    await target.pushBlob({ descriptor: part.descriptor, open: () => [part.bytes] }, signal);
  }
  const [config, layer] = parts.map(({ descriptor }) => descriptor);
  const mediaType = mediaTypes.ociManifest;
  const manifest = {
    schemaVersion: 2,
    mediaType,
    artifactType: recordType,
    config,
    layers: [layer],
  };
  const text = Buffer.from(JSON.stringify(manifest));
  await target.pushManifest({ bytes: text, mediaType, tag: recordName }, signal);
}

/** @throws TerminalError if no run has completed the layout */
export async function readRecord(place: ImagePlace, signal: AbortSignal): Promise<CarriedRecord> {
  const found = await findRecord(place, signal);
  if (found !== undefined) return found;
  throw new TerminalError(
    `${place.name} has no record of what it holds: fill it with rukpakctl mirror --config, and copy all of it`,
  );
}

/** Undefined if no run has completed the layout. */
export async function findRecord(
  place: ImagePlace,
  signal: AbortSignal,
): Promise<CarriedRecord | undefined> {
  const manifest = await place.findManifest(recordName, signal);
  const layer =
    manifest && manifestParts(manifest).blobs.find(({ mediaType }) => mediaType === recordType);
  if (layer === undefined) return undefined;
  if (layer.size > maxRecordSize) {
    throw new TerminalError(`${place.name}: its record has ${layer.size} bytes`);
  }
  const chunks: Uint8Array[] = [];
  for await (const chunk of blobBytes(place, layer, signal)) chunks.push(chunk);
  return parseRecord(Buffer.concat(chunks).toString('utf8'), place.name);
}

/** Reads the record of a directory or tar, or of a record file that its run has written. */
export async function readEarlierRecord(
  path: string,
  { access, signal }: { readonly access: RegistryAccess; readonly signal: AbortSignal },
): Promise<CarriedRecord> {
  const stats = await stat(path).catch((error: unknown) => {
    throw new TerminalError(`cannot read ${path}: ${errorMessage(error)}`, { cause: error });
  });
  if (stats.isFile() && !path.endsWith('.tar'))
    return parseRecord(await readFile(path, 'utf8'), path);
  const { place } = await access.open({ ...carriedPlace(path), name: recordName }, signal);
  try {
    return await readRecord(place, signal);
  } finally {
    await place.close();
  }
}

function contentOf(written: Readonly<Record<string, readonly string[]>>): CarriedContent {
  return new Map(Object.entries(written).map(([path, digests]) => [path, new Set(digests)]));
}

function parseRecord(text: string, name: string): CarriedRecord {
  try {
    const { images, content, earlier } = recordSchema.parse(JSON.parse(text));
    return { images, content: contentOf(content), earlier: contentOf(earlier) };
  } catch (error) {
    const [issue] = error instanceof z.ZodError ? error.issues : [];
    const problem = issue === undefined ? errorMessage(error) : issueText(issue);
    throw new TerminalError(`cannot read the record of ${name}: ${problem}`, { cause: error });
  }
}

function issueText({ path, message }: z.core.$ZodIssue): string {
  return path.length === 0 ? message : `${path.join('.')}: ${message}`;
}

function isReference(text: string): boolean {
  try {
    parseImageReference(text);
    return true;
  } catch {
    return false;
  }
}
