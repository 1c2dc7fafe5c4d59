import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A registry in this process that takes uploads, as badly as a test wants. */
export class UploadRegistry {
  /** By digest. */
  readonly blobs = new Map<string, Buffer>();
  /** The blobs of other repositories, by digest. */
  readonly elsewhere = new Map<string, Buffer>();
  /** By `<repository>:<tag or digest>`. */
  readonly manifests = new Map<string, { readonly bytes: Buffer; readonly mediaType: string }>();
  /** `METHOD /path`, without what is random. */
  readonly seen: string[] = [];
  /** Cuts that many requests with a body after so many bytes of it, which it keeps. */
  cuts = 0;
  cutAfter = 100_000;
  /** Answers to PATCH, in place of taking it. */
  refusesChunks = false;
  /** Says of each manifest that it has another digest. */
  lies = false;
  hasReferrersApi = false;
  /** Status of its answer to a request to mount a blob, which it does not do. */
  refusesMounts: number | undefined;
  /** Status of its answer to a request that it denies. */
  denies: (request: IncomingMessage) => 401 | 403 | undefined = () => undefined;
  /** Whether a repository lacks a blob that others have. */
  lacks: (repository: string, digest: string) => boolean = () => false;
  /** Whether it denies manifests of a repository. */
  refuses: (repository: string) => boolean = () => false;
  readonly #uploads = new Map<string, Buffer>();
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<UploadRegistry> {
    const server = createServer();
    const registry = new UploadRegistry(server);
    server.on('request', (request, response) => {
      const denied = registry.denies(request);
      if (denied !== undefined) {
        request.resume();
        response.writeHead(denied, { 'www-authenticate': 'Basic realm="x"' }).end();
        return;
      }
      registry.#answer(request, response).catch(() => response.destroy());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  /** `127.0.0.1:<port>`. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', `http://${this.host}`);
    const { repository, kind, name } = partsOf(url);
    const { method = '' } = request;
    this.seen.push(`${method} ${kind}/${name.startsWith('uploads/') ? 'uploads' : name}`);
    if (kind === 'manifests' && method === 'PUT' && this.refuses(repository)) {
      response.writeHead(400).end();
    } else if (kind === 'manifests') {
      await this.#manifest(request, response, `${repository}:${name}`);
    } else if (name.startsWith('uploads/')) {
      await this.#upload(request, response, url);
    } else {
      this.#blob(response, kind === 'blobs' ? this.#stored(repository, name) : undefined);
    }
  }

  #stored(repository: string, digest: string): Buffer | undefined {
    return this.lacks(repository, digest) ? undefined : this.blobs.get(digest);
  }

  #blob(response: ServerResponse, blob: Buffer | undefined): void {
    if (blob === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-length': blob.byteLength }).end(blob);
  }

  async #manifest(request: IncomingMessage, response: ServerResponse, key: string): Promise<void> {
    if (request.method === 'PUT') {
      const bytes = await this.#body(request);
      const digest = digestOf(bytes);
      const stored = { bytes, mediaType: request.headers['content-type'] ?? '' };
      this.manifests.set(key, stored);
      this.manifests.set(`${key.split(':')[0]}:${digest}`, stored);
      const { subject } = JSON.parse(bytes.toString('utf8')) as { subject?: { digest: string } };
      const shown = this.lies ? digestOf(Buffer.from('other')) : digest;
      const notice =
        subject !== undefined && this.hasReferrersApi ? { 'oci-subject': subject.digest } : {};
      response.writeHead(201, { 'docker-content-digest': shown, ...notice }).end();
      return;
    }
    const stored = this.manifests.get(key);
    if (stored === undefined) return void response.writeHead(404).end();
    response
      .writeHead(200, {
        'content-type': stored.mediaType,
        'docker-content-digest': digestOf(stored.bytes),
      })
      .end(request.method === 'HEAD' ? undefined : stored.bytes);
  }

  async #upload(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const { method } = request;
    if (method === 'POST') return this.#begin(response, url);
    const id = url.pathname.split('/').at(-1) ?? '';
    const before = this.#uploads.get(id) ?? Buffer.alloc(0);
    const headers = { location: url.pathname };
    if (method === 'GET') {
      const range = `0-${Math.max(0, before.byteLength - 1)}`;
      return void response.writeHead(204, { ...headers, range }).end();
    }
    if (method === 'PATCH' && this.refusesChunks) return void response.writeHead(405).end();
    const bytes = Buffer.concat([before, await this.#body(request, id)]);
    this.#uploads.set(id, bytes);
    if (method === 'PATCH') response.writeHead(202, headers).end();
    else this.#end(response, bytes, url.searchParams.get('digest') ?? '');
  }

  #begin(response: ServerResponse, url: URL): void {
    const mounted = url.searchParams.get('mount') ?? '';
    if (mounted !== '' && this.refusesMounts !== undefined) {
      return void response.writeHead(this.refusesMounts).end();
    }
    const blob = this.elsewhere.get(mounted);
    if (blob !== undefined) {
      this.blobs.set(mounted, blob);
      response.writeHead(201).end();
      return;
    }
    const id = randomUUID();
    this.#uploads.set(id, Buffer.alloc(0));
    response.writeHead(202, { location: `${url.pathname}${id}` }).end();
  }

  #end(response: ServerResponse, bytes: Buffer, digest: string): void {
    if (digestOf(bytes) === digest) {
      this.blobs.set(digest, bytes);
      response.writeHead(201).end();
      return;
    }
    const error = { code: 'DIGEST_INVALID', message: 'provided digest did not match' };
    response.writeHead(400).end(JSON.stringify({ errors: [error] }));
  }

  async #body(request: IncomingMessage, upload?: string): Promise<Buffer> {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (upload !== undefined && this.cuts > 0 && size >= this.cutAfter) {
        this.cuts -= 1;
        const before = this.#uploads.get(upload) ?? Buffer.alloc(0);
        this.#uploads.set(upload, Buffer.concat([before, ...chunks]));
        request.destroy();
        throw new Error('cut');
      }
    }
    return Buffer.concat(chunks);
  }
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function partsOf({ pathname }: URL): Readonly<Record<'repository' | 'kind' | 'name', string>> {
  const [, repository = '', kind = '', name = ''] =
    /^\/v2\/(.+?)\/(blobs|manifests|referrers)\/(.+)$/.exec(pathname) ?? [];
  return { repository, kind, name };
}
