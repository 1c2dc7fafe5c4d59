import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';

const mebibyte = 1024 * 1024;
const piece = Buffer.alloc(mebibyte, 'a layer of an image, ');

interface Blob {
  readonly number: number;
  readonly size: number;
}

export interface BulkImages {
  readonly images: number;
  readonly layersPerImage: number;
  /** MiB of each layer. */
  readonly layerSize: number;
}

/** A registry that makes up the layers of its images as they are asked for, and forgets what it is sent. */
export class BulkRegistry {
  readonly host: string;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** A registry whose images are `bulk/N:v1`. */
  static async source(images: BulkImages): Promise<BulkRegistry> {
    return await BulkRegistry.#start(sourceOf(images));
  }

  /** A registry that has nothing, and takes all. */
  static async sink(): Promise<BulkRegistry> {
    const target = new Sink();
    return await BulkRegistry.#start((request, response) => target.answer(request, response));
  }

  static async #start(answer: Answer): Promise<BulkRegistry> {
    const server = createServer((request, response) => {
      answer(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new BulkRegistry(server);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

function sourceOf(wanted: BulkImages): Answer {
  const { blobs, manifests } = contentOfImages(wanted);
  return async ({ url = '' }, response) => {
    const [, name = '', kind, reference = ''] =
      /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url) ?? [];
    if (kind === 'manifests') sendManifest(manifests.get(`${name}:${reference}`), response);
    else if (kind === 'blobs') await sendBlob(blobs.get(reference), response);
    else response.writeHead(url === '/v2/' ? 200 : 404).end();
  };
}

function sendManifest(manifest: Buffer | undefined, response: ServerResponse): void {
  if (manifest === undefined) response.writeHead(404).end();
  else response.writeHead(200, { 'content-type': manifestType }).end(manifest);
}

/** All images have the one configuration. */
async function sendBlob(blob: Blob | undefined, response: ServerResponse): Promise<void> {
  if (blob === undefined) return void response.end(config);
  response.writeHead(200, { 'content-length': blob.size });
  await pipeline(contentOf(blob), response);
}

const config = Buffer.from('{}');

/** Manifests by `NAME:TAG` and `NAME:DIGEST`. */
function contentOfImages({ images, layersPerImage, layerSize }: BulkImages) {
  const blobs = new Map<string, Blob>();
  const manifests = new Map<string, Buffer>();
  for (let image = 0; image < images; image += 1) {
    const layers = Array.from({ length: layersPerImage }, (_, index) => {
      const blob = { number: image * layersPerImage + index, size: layerSize * mebibyte };
      const digest = digestOfBlob(blob);
      blobs.set(digest, blob);
      return { mediaType: 'application/vnd.oci.image.layer.v1.tar', digest, size: blob.size };
    });
    const manifest = manifestOf(layers);
    for (const reference of ['v1', digestOf(manifest)]) {
      manifests.set(`bulk/${image}:${reference}`, manifest);
    }
  }
  return { blobs, manifests };
}

const manifestType = 'application/vnd.oci.image.manifest.v1+json';

function manifestOf(layers: readonly object[]): Buffer {
  const mediaType = 'application/vnd.oci.image.config.v1+json';
  const own = { mediaType, digest: digestOf(config), size: config.byteLength };
  return Buffer.from(
    JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config: own, layers }),
  );
}

function digestOfBlob(blob: Blob): string {
  const hash = createHash('sha256');
  for (const chunk of contentOf(blob)) hash.update(chunk);
  return `sha256:${hash.digest('hex')}`;
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Each blob begins with its number. */
function* contentOf({ number, size }: Blob): Generator<Uint8Array> {
  yield Buffer.from(String(number).padStart(16, '0'));
  for (let left = size - 16; left > 0; left -= piece.byteLength) {
    yield piece.subarray(0, Math.min(left, piece.byteLength));
  }
}

/** What a registry is sent: names of what is there, and bytes of uploads. */
class Sink {
  readonly #known = new Set<string>();
  readonly #received = new Map<string, number>();

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    let bytes = 0;
    for await (const chunk of request) bytes += (chunk as Buffer).byteLength;
    const { pathname, searchParams } = new URL(url, 'http://sink');
    if (method === 'POST') this.#begin(pathname, response);
    else if (method === 'PATCH') this.#append(pathname, bytes, response);
    else if (method === 'PUT') {
      const digest = searchParams.get('digest');
      this.#known.add(digest === null ? pathname : pathname.replace(/uploads\/\d+$/, digest));
      response.writeHead(201).end();
    } else response.writeHead(this.#known.has(pathname) ? 200 : 404).end();
  }

  #begin(path: string, response: ServerResponse): void {
    const location = `${path}${this.#received.size + 1}`;
    this.#received.set(location, 0);
    response.writeHead(202, { location }).end();
  }

  #append(location: string, bytes: number, response: ServerResponse): void {
    const total = (this.#received.get(location) ?? 0) + bytes;
    this.#received.set(location, total);
    response.writeHead(202, { location, range: `0-${total - 1}` }).end();
  }
}
