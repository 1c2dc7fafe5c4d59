import { createHash } from 'node:crypto';
import { type LayerContent, layerArchive } from './layer-archive.ts';

export interface PushTarget {
  /** `host:port` of a registry that speaks plain HTTP. */
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
  readonly credentials?: { readonly username: string; readonly password: string };
}

export interface ImageContent extends PushTarget {
  /** Bottom first. */
  readonly layers: readonly LayerContent[];
  /** Go's name; amd64 if absent. */
  readonly architecture?: string;
}

export interface IndexContent extends PushTarget {
  readonly manifests: readonly PushedImage[];
}

export interface PushedImage {
  readonly digest: string;
  readonly size: number;
  readonly mediaType: string;
  readonly platform: { readonly os: string; readonly architecture: string };
}

export interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const imageType = 'application/vnd.oci.image.manifest.v1+json';
const indexType = 'application/vnd.oci.image.index.v1+json';
const configType = 'application/vnd.oci.image.config.v1+json';

/** Builds a small image and pushes it to a registry; gives back its manifest's digest. */
export async function pushImage(image: ImageContent): Promise<PushedImage> {
  const platform = { os: 'linux', architecture: image.architecture ?? 'amd64' };
  const layers: Descriptor[] = [];
  const diffIds: string[] = [];
  for (const content of image.layers) {
    const { bytes, mediaType, archive } = await layerArchive(content);
    layers.push(await pushBlob(image, { bytes, mediaType }));
    diffIds.push(digestOf(archive));
  }
  const rootfs = { type: 'layers', diff_ids: diffIds };
  const config = Buffer.from(JSON.stringify({ ...platform, config: {}, rootfs }));
  const manifest = await pushManifest(image, {
    schemaVersion: 2,
    mediaType: imageType,
    config: await pushBlob(image, { bytes: config, mediaType: configType }),
    layers,
  });
  return { ...manifest, platform };
}

/** Pushes an index of images that the same repository has. */
export async function pushIndex(index: IndexContent): Promise<{ readonly digest: string }> {
  const { manifests } = index;
  return await pushManifest(index, { schemaVersion: 2, mediaType: indexType, manifests });
}

/** Pushes bytes that a manifest is going to name. */
export async function pushBlob(
  target: PushTarget,
  { bytes, mediaType }: { readonly bytes: Uint8Array; readonly mediaType: string },
): Promise<Descriptor> {
  const digest = digestOf(bytes);
  const started = await send(target, 'blobs/uploads/', { method: 'POST' });
  const location = started.headers.get('location');
  if (location === null) throw new Error(`registry ${target.registry} gave no upload location`);
  const url = new URL(location, started.url);
  url.searchParams.set('digest', digest);
  await send(target, url.href, {
    method: 'PUT',
    body: new Uint8Array(bytes),
    headers: { 'content-type': 'application/octet-stream' },
  });
  return { mediaType, digest, size: bytes.byteLength };
}

/** Pushes a manifest of any kind, whose blobs the repository has. */
export async function pushManifest(
  target: PushTarget,
  manifest: { readonly mediaType: string; readonly [field: string]: unknown },
): Promise<Descriptor> {
  const { mediaType } = manifest;
  const body = JSON.stringify(manifest);
  await send(target, `manifests/${target.tag}`, {
    method: 'PUT',
    body,
    headers: { 'content-type': mediaType },
  });
  return { mediaType, digest: digestOf(Buffer.from(body)), size: Buffer.byteLength(body) };
}

/** One request to the repository; anything but success is an error that names the answer. */
async function send(target: PushTarget, path: string, init: RequestInit): Promise<Response> {
  const { registry, repository, credentials } = target;
  const url = new URL(path, `http://${registry}/v2/${repository}/`);
  const headers = new Headers(init.headers);
  if (credentials !== undefined) {
    const { username, password } = credentials;
    const basic = Buffer.from(`${username}:${password}`).toString('base64');
    headers.set('authorization', `Basic ${basic}`);
  }
  const response = await fetch(url, { ...init, headers });
  if (response.ok) {
    await response.body?.cancel();
    return response;
  }
  throw new Error(
    `${init.method ?? 'GET'} ${url.href}: ${response.status} ${(await response.text()).slice(0, 500)}`,
  );
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
