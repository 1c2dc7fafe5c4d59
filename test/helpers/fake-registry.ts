import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type LayerContent, layerArchive } from './layer-archive.ts';

interface Stored {
  readonly bytes: Uint8Array;
  readonly mediaType: string;
}

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Answers a request in place of the registry; false leaves it to the registry. */
type Interceptor = (
  request: IncomingMessage,
  response: ServerResponse,
) => boolean | Promise<boolean>;

/** A registry in this process, which does as badly as a test wants. */
export class FakeRegistry {
  readonly requests: SeenRequest[] = [];
  intercept: Interceptor = () => false;
  /** Breaks that many connections, each after 50 000 bytes of a body. */
  breaks = 0;
  /** What it sends in place of a blob's bytes. */
  damage: (blob: Buffer) => Uint8Array = (blob) => blob;
  /** Leaves out how long a body will be. */
  hidesLength = false;
  readonly #server: Server;
  readonly #content = new Map<string, Stored>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<FakeRegistry> {
    const server = createServer();
    const registry = new FakeRegistry(server);
    server.on('request', (request, response) => void registry.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  /** `127.0.0.1:<port>`. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  addBlob(bytes: Uint8Array, mediaType: string): Descriptor {
    const digest = digestOf(bytes);
    this.#content.set(digest, { bytes, mediaType });
    return { mediaType, digest, size: bytes.byteLength };
  }

  /** Under its digest and, where given, a tag. */
  addManifest(
    manifest: object,
    { mediaType, tag }: { mediaType: string; tag?: string },
  ): Descriptor {
    const bytes = Buffer.from(JSON.stringify(manifest));
    const descriptor = this.addBlob(bytes, mediaType);
    if (tag !== undefined) this.#content.set(tag, { bytes, mediaType });
    return descriptor;
  }

  /** An image of the given layers; `change` may spoil its manifest. */
  async addImage(
    tag: string,
    layers: readonly LayerContent[],
    change: (manifest: Record<string, unknown>) => object = (manifest) => manifest,
  ): Promise<Descriptor> {
    const descriptors: Descriptor[] = [];
    for (const layer of layers) {
      const { bytes, mediaType } = await layerArchive(layer);
      descriptors.push(this.addBlob(bytes, mediaType));
    }
    const mediaType = 'application/vnd.oci.image.manifest.v1+json';
    const config = this.addBlob(Buffer.from('{}'), 'application/vnd.oci.image.config.v1+json');
    const manifest = change({ schemaVersion: 2, mediaType, config, layers: descriptors });
    return this.addManifest(manifest, { mediaType, tag });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    this.requests.push({ method: request.method ?? '', path, headers: request.headers });
    if (await this.intercept(request, response)) return;
    const key = /\/(?:manifests|blobs)\/([^/?]+)$/.exec(path)?.[1] ?? '';
    const stored = this.#content.get(key);
    if (stored === undefined) {
      response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
      return;
    }
    const isBlob = path.includes('/blobs/');
    const bytes = isBlob ? this.damage(Buffer.from(stored.bytes)) : stored.bytes;
    this.#serve({ ...stored, bytes }, request, response);
  }

  #serve({ bytes, mediaType }: Stored, request: IncomingMessage, response: ServerResponse): void {
    const start = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const size = bytes.byteLength;
    response.writeHead(start === 0 ? 200 : 206, {
      'content-type': mediaType,
      ...(request.method === 'HEAD' ? { 'docker-content-digest': digestOf(bytes) } : {}),
      ...(this.hidesLength ? {} : { 'content-length': size - start }),
      ...(start === 0 ? {} : { 'content-range': `bytes ${start}-${size - 1}/${size}` }),
    });
    const body = bytes.subarray(start);
    if (this.breaks === 0 || body.byteLength <= 50_000) {
      response.end(body);
      return;
    }
    this.breaks -= 1;
    response.write(body.subarray(0, 50_000), () => response.destroy());
  }
}
