import { createHash, createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface StoredVersion {
  readonly id: string;
  readonly body: Uint8Array;
}

/** What S3 names objects of buckets that have never kept versions, and of those that keep none any more. */
const idsWithoutVersions = new Map([
  ['open-unversioned', ''],
  ['open-suspended', 'null'],
]);

/** A server that speaks as much of S3's protocol as GETs of objects and their versions take. */
export class S3Server {
  readonly accessKey = { id: 'AKIAEXAMPLE', secret: 'not/a+secret' };
  /** Paths and queries that were asked for. */
  readonly requests: string[] = [];
  readonly #objects = new Map<string, StoredVersion[]>();
  readonly #server = createServer((request, response) => this.#answer(request, response));

  static async start(): Promise<S3Server> {
    const server = new S3Server();
    server.#server.listen(0, '127.0.0.1');
    await once(server.#server, 'listening');
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Adds a version of an object; its ID. Buckets whose names begin with `open` need no signature. */
  put(bucket: string, key: string, body: Uint8Array): string {
    const path = `/${bucket}/${key}`;
    const id = idsWithoutVersions.get(bucket) ?? randomUUID();
    this.#objects.set(path, [...(this.#objects.get(path) ?? []), { id, body }]);
    return id;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '', this.endpoint);
    this.requests.push(`${url.pathname}${url.search}`);
    const path = decodeURIComponent(url.pathname);
    if (!path.startsWith('/open') && !this.#isSigned(request, url)) {
      return refuse(response, 403, 'SignatureDoesNotMatch');
    }
    const versions = this.#objects.get(path);
    if (versions === undefined) return refuse(response, 404, 'NoSuchKey');
    const wanted = url.searchParams.get('versionId');
    const found = wanted === null ? versions.at(-1) : versions.find(({ id }) => id === wanted);
    if (found === undefined) return refuse(response, 404, 'NoSuchVersion');
    response.writeHead(200, { 'x-amz-version-id': found.id }).end(found.body);
  }

  /** As the server sees it: from the headers that came, not from what the client meant to send. */
  #isSigned({ headers, method }: IncomingMessage, url: URL): boolean {
    const authorization =
      /^AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)$/;
    const [, id, day = '', region = '', names = '', signature] =
      authorization.exec(headers.authorization ?? '') ?? [];
    const time = String(headers['x-amz-date']);
    const moment = Date.parse(time.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
    if (id !== this.accessKey.id || !(Math.abs(Date.now() - moment) < 15 * 60_000)) return false;
    const lines = names.split(';').map((name) => `${name}:${String(headers[name])}`);
    const query = url.search.slice(1).split('&').sort().join('&');
    const hash = String(headers['x-amz-content-sha256']);
    const canonical = `${method}\n${url.pathname}\n${query}\n${lines.join('\n')}\n\n${names}\n${hash}`;
    const digest = createHash('sha256').update(canonical).digest('hex');
    const text = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/s3/aws4_request\n${digest}`;
    let key: string | Buffer = `AWS4${this.accessKey.secret}`;
    for (const part of [day, region, 's3', 'aws4_request', text]) {
      key = createHmac('sha256', key).update(part).digest();
    }
    return key.toString('hex') === signature;
  }
}

function refuse(response: ServerResponse, status: number, code: string): void {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
}
