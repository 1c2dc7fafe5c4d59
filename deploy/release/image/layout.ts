import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type LayerFiles, writeLayer } from './layer.ts';
import type { Architecture } from './pins.ts';

export const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

/** A layer, and the digest of its uncompressed form. */
export interface ImageLayer {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
  readonly diffId: string;
  /** The text for the image's history. */
  readonly madeBy: string;
}

/** How to start the image's program. */
export interface ImageSettings {
  readonly user: string;
  readonly workingDir: string;
  readonly env: readonly string[];
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

export interface PlatformImage {
  readonly architecture: Architecture;
  /** Bottom first. */
  readonly layers: readonly ImageLayer[];
}

export interface ImageContent {
  readonly images: readonly PlatformImage[];
  readonly settings: ImageSettings;
  /** RFC 3339; the same for equal sources. */
  readonly created: string;
  /** Tag of the image in the layout. */
  readonly tag: string;
}

/** A layer of these files; equal files make equal bytes with the same version of Node. */
export async function imageLayer(files: LayerFiles, madeBy: string): Promise<ImageLayer> {
  const archive = writeLayer(files);
  const bytes = await promisify(gzip)(archive);
  return { bytes, mediaType: mediaTypes.layer, diffId: digestOf(archive), madeBy };
}

/**
 * Writes an OCI image layout with one index of all platforms into an empty or new folder.
 * @returns the index, whose digest is the image's.
 */
export async function writeLayout(folder: string, content: ImageContent): Promise<Descriptor> {
  const blobs = join(folder, 'blobs', 'sha256');
  await mkdir(blobs, { recursive: true });
  const put = async (bytes: Uint8Array, mediaType: string): Promise<Descriptor> => {
    const digest = digestOf(bytes);
    await writeFile(join(blobs, digest.slice('sha256:'.length)), bytes);
    return { mediaType, digest, size: bytes.byteLength };
  };
  const putJson = (value: object, mediaType: string) =>
    put(Buffer.from(JSON.stringify(value)), mediaType);
  const manifests: object[] = [];
  for (const { architecture, layers } of content.images) {
    const config = await putJson(configOf(architecture, layers, content), mediaTypes.config);
    const descriptors: Descriptor[] = [];
    for (const { bytes, mediaType } of layers) descriptors.push(await put(bytes, mediaType));
    const manifest = { schemaVersion: 2, mediaType: mediaTypes.manifest };
    const written = await putJson(
      { ...manifest, config, layers: descriptors },
      mediaTypes.manifest,
    );
    manifests.push({ ...written, platform: { os: 'linux', architecture } });
  }
  const index = await putJson(
    {
      schemaVersion: 2,
      mediaType: mediaTypes.index,
      manifests,
      annotations: content.settings.labels,
    },
    mediaTypes.index,
  );
  const named = { ...index, annotations: { 'org.opencontainers.image.ref.name': content.tag } };
  const entry = { schemaVersion: 2, mediaType: mediaTypes.index, manifests: [named] };
  await writeFile(join(folder, 'index.json'), `${JSON.stringify(entry)}\n`);
  await writeFile(join(folder, 'oci-layout'), '{"imageLayoutVersion":"1.0.0"}\n');
  return index;
}

function configOf(
  architecture: Architecture,
  layers: readonly ImageLayer[],
  { settings, created }: ImageContent,
): object {
  const { user, workingDir, env, entrypoint, cmd, labels } = settings;
  return {
    created,
    architecture,
    os: 'linux',
    config: {
      User: user,
      WorkingDir: workingDir,
      Env: env,
      Entrypoint: entrypoint,
      Cmd: cmd,
      Labels: labels,
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ diffId }) => diffId) },
    history: layers.map(({ madeBy }) => ({ created, created_by: madeBy })),
  };
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
