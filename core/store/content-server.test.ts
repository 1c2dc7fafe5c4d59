import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { systemClock } from '../clock.ts';
import { BundleFilesBuilder } from '../content/bundle-files-builder.ts';
import { defaultLimits } from '../content/limits.ts';
import type { Logger } from '../contracts/logger.ts';
import { WaitingError } from '../errors.ts';
import { Metrics } from '../observe/metrics.ts';
import type { AccessRequest, AccessReview } from './access-review.ts';
import { stamped } from './archive-stamp.ts';
import {
  type ContentServer,
  type ContentServerOptions,
  startContentServer,
} from './content-server.ts';
import { DiskStore } from './disk-store.ts';
import type { ServedBundles } from './served-bundles.ts';

const reader: AccessReview = { authenticated: true, user: 'reader', allowed: true };

let directory: string;
let archive: Buffer;
let servers: ContentServer[];
let asked: AccessRequest[];
let logged: object[];
let metrics: Metrics;
/** Of the Bundles that there are. */
let uids: Map<string, string>;
let restore: ServedBundles['restore'];

const logger: Logger = {
  ...silentLogger,
  info: (fields, message) => void logged.push({ ...fields, message }),
  child: () => logger,
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'content-server-'));
  await storeBundle(directory);
  archive = await readFile(join(directory, 'my-bundle.tgz'));
  servers = [];
  asked = [];
  logged = [];
  metrics = new Metrics();
  uids = new Map([
    ['my-bundle', '1'],
    ['old', '1'],
    ['big', '1'],
    ['folder', '1'],
    ['link', '1'],
  ]);
  restore = async () => false;
});

afterEach(async () => {
  await Promise.all(servers.map(async (server) => await server.close()));
  await rm(directory, { recursive: true });
});

async function storeBundle(directory: string): Promise<void> {
  const store = new DiskStore({ directory, externalAddress: '', limits: defaultLimits });
  const builder = new BundleFilesBuilder(defaultLimits);
  builder.addFile('manifests/a.yaml', Buffer.from('kind: Namespace'));
  await store.put({ name: 'my-bundle', uid: '1' }, builder.build());
}

async function start(options: Partial<ContentServerOptions> = {}): Promise<string> {
  const server = await startContentServer({
    address: { host: '127.0.0.1', port: 0 },
    directory,
    logger,
    clock: systemClock,
    bundles: {
      uidOf: (name) => uids.get(name),
      restore: async (name, signal) => await restore(name, signal),
    },
    metrics: metrics.content,
    reviewer: {
      review: async (caller, request) => {
        asked.push(request);
        const token = 'token' in caller ? caller.token : caller.user.username;
        if (token === 'broken') throw new Error('connect ECONNREFUSED');
        if (token === 'nobody') return { authenticated: false };
        return token === 'reader' ? reader : { authenticated: true, user: token, allowed: false };
      },
    },
    ...options,
  });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

interface Asked {
  readonly method?: string;
  readonly token?: string | undefined;
  readonly headers?: Record<string, string>;
}

async function ask(url: string, { method = 'GET', token = 'reader', headers = {} }: Asked = {}) {
  const response = await request(url, {
    method: method as 'GET',
    headers: { ...(token === '' ? {} : { authorization: `Bearer ${token}` }), ...headers },
  });
  const body = Buffer.from(await response.body.arrayBuffer());
  return { status: response.statusCode, headers: response.headers, body, text: body.toString() };
}

describe('archives', () => {
  it('are served whole by GET, with what clients cache and verify by', async () => {
    const server = await start();
    const { status, headers, body } = await ask(`${server}/bundles/my-bundle.tgz`);
    expect(status).toBe(200);
    expect(body.equals(archive)).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/x-compressed-tar',
      'content-length': String(archive.length),
      'accept-ranges': 'bytes',
    });
    expect(Date.parse(String(headers['last-modified']))).toBeGreaterThan(0);
    expect(headers['etag']).toMatch(/^"[0-9a-f]{64}"$/);
    expect(headers['x-powered-by']).toBeUndefined();
  });

  it('are described by HEAD, which needs the same verb as GET', async () => {
    const server = await start();
    const { status, headers, body } = await ask(`${server}/bundles/my-bundle.tgz`, {
      method: 'HEAD',
    });
    expect(status).toBe(200);
    expect(headers['content-length']).toBe(String(archive.length));
    expect(body).toHaveLength(0);
    expect(asked).toEqual([{ verb: 'get', path: '/bundles/my-bundle.tgz' }]);
  });

  it.each([
    ['bytes=0-9', 0, 10],
    ['bytes=10-', 10, undefined],
    ['bytes=-7', -7, undefined],
    ['bytes=5-999999', 5, undefined],
  ])('are served in part for %s', async (range, from, to) => {
    const server = await start();
    const { status, headers, body } = await ask(`${server}/bundles/my-bundle.tgz`, {
      headers: { range },
    });
    expect(status).toBe(206);
    expect(body.equals(archive.subarray(from, to))).toBe(true);
    const first = from < 0 ? archive.length + from : from;
    expect(headers['content-range']).toBe(
      `bytes ${first}-${first + body.length - 1}/${archive.length}`,
    );
  });

  it('answer a range beyond the end with 416', async () => {
    const server = await start();
    const { status, headers } = await ask(`${server}/bundles/my-bundle.tgz`, {
      headers: { range: `bytes=${archive.length}-` },
    });
    expect(status).toBe(416);
    expect(headers['content-range']).toBe(`bytes */${archive.length}`);
  });

  it.each(['bytes=0-1,4-5', 'lines=1-2', 'nonsense'])('are served whole for %s', async (range) => {
    const server = await start();
    const { status, body } = await ask(`${server}/bundles/my-bundle.tgz`, { headers: { range } });
    expect(status).toBe(200);
    expect(body).toHaveLength(archive.length);
  });

  it('honour conditions', async () => {
    const url = `${await start()}/bundles/my-bundle.tgz`;
    const { headers } = await ask(url);
    const etag = String(headers['etag']);
    const fresh = await ask(url, { headers: { 'if-none-match': etag } });
    expect([fresh.status, fresh.body.length]).toEqual([304, 0]);
    const range = 'bytes=0-0';
    expect((await ask(url, { headers: { range, 'if-range': etag } })).status).toBe(206);
    expect((await ask(url, { headers: { range, 'if-range': '"older"' } })).status).toBe(200);
  });

  it('change their ETag when they are replaced', async () => {
    const url = `${await start()}/bundles/my-bundle.tgz`;
    const before = (await ask(url)).headers['etag'];
    const store = new DiskStore({ directory, externalAddress: '', limits: defaultLimits });
    await store.put({ name: 'my-bundle', uid: '2' }, { files: new Map(), directories: new Set() });
    uids.set('my-bundle', '2');
    expect((await ask(url)).headers['etag']).not.toBe(before);
  });

  it('are equal byte for byte on every replica: ETags and ranges of one hold at another', async () => {
    const url = `${await start()}/bundles/my-bundle.tgz`;
    const other = await mkdtemp(join(tmpdir(), 'replica-'));
    try {
      await storeBundle(other);
      const peer = `${await start({ directory: other })}/bundles/my-bundle.tgz`;
      const etag = String((await ask(url)).headers['etag']);
      expect((await ask(peer, { headers: { 'if-none-match': etag } })).status).toBe(304);
      const first = await ask(url, { headers: { range: 'bytes=0-99' } });
      const rest = await ask(peer, { headers: { range: 'bytes=100-', 'if-range': etag } });
      expect([first.status, rest.status]).toEqual([206, 206]);
      expect(Buffer.concat([first.body, rest.body]).equals(archive)).toBe(true);
    } finally {
      await rm(other, { recursive: true });
    }
  });

  it('that an earlier version stored, without a digest, are served all the same', async () => {
    const gzip = Readable.from([gzipSync('tar')]);
    await writeFile(join(directory, 'old.tgz'), stamped(gzip, { uid: '1' }));
    const url = `${await start()}/bundles/old.tgz`;
    const { status, headers } = await ask(url);
    expect(status).toBe(200);
    const etag = String(headers['etag']);
    expect((await ask(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  it('are regular files of a Bundle’s name alone', async () => {
    await mkdir(join(directory, 'folder.tgz'));
    await symlink('my-bundle.tgz', join(directory, 'link.tgz'));
    await writeFile(join(directory, '.half.tmp'), 'x');
    await writeFile(join(directory, 'secret'), 'x');
    const server = await start();
    for (const path of [
      '/bundles/unknown.tgz',
      '/bundles/folder.tgz',
      '/bundles/link.tgz',
      '/bundles/.half.tmp',
      '/bundles/secret',
      '/bundles/my-bundle',
      '/bundles/',
      '/bundles',
      '/bundles/my-bundle.tgz/',
      '/BUNDLES/my-bundle.tgz',
      '/bundles/%2e%2e%2fsecret.tgz',
      '/bundles/x/..%2fmy-bundle.tgz',
      '/',
      '/metrics',
    ]) {
      const { status, text, headers } = await ask(server + path);
      expect([path, status, text]).toEqual([path, 404, '404 page not found\n']);
      expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    }
  });

  it.each(['PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS'])('refuse %s', async (method) => {
    const { status, headers } = await ask(`${await start()}/bundles/my-bundle.tgz`, { method });
    expect(status).toBe(405);
    expect(headers['allow']).toBe('GET, HEAD');
  });

  it('survive clients that leave in the middle', async () => {
    const big = stamped(Readable.from([gzipSync(''), Buffer.alloc(20_000_000)]), { uid: '1' });
    await writeFile(join(directory, 'big.tgz'), big);
    const server = await start();
    const socket = connect(Number(new URL(server).port), '127.0.0.1');
    socket.write(
      'GET /bundles/big.tgz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer reader\r\n\r\n',
    );
    await new Promise((resolve) => socket.once('data', resolve));
    socket.destroy();
    expect((await ask(`${server}/bundles/my-bundle.tgz`)).status).toBe(200);
  });
});

describe('content that is not stored here', () => {
  it('is restored, and served', async () => {
    await rm(join(directory, 'my-bundle.tgz'));
    restore = async (name) => {
      expect(name).toBe('my-bundle');
      await storeBundle(directory);
      return true;
    };
    const { status, body } = await ask(`${await start()}/bundles/my-bundle.tgz`);
    expect(status).toBe(200);
    expect(body.equals(archive)).toBe(true);
  });

  it('of a namesake that came later is never taken for what is stored', async () => {
    uids.set('my-bundle', '2');
    const url = `${await start()}/bundles/my-bundle.tgz`;
    expect((await ask(url)).status).toBe(404);
    restore = () => Promise.reject(new WaitingError('the source does not answer'));
    expect((await ask(url)).status).toBe(503);
  });

  it('of a Bundle that is gone is not served, though it is still stored', async () => {
    uids.delete('my-bundle');
    restore = () => Promise.reject(new Error('must not be asked'));
    expect((await ask(`${await start()}/bundles/my-bundle.tgz`)).status).toBe(404);
  });

  it('and cannot be restored now is promised for later', async () => {
    uids.set('lost', '1');
    restore = () => Promise.reject(new WaitingError('the source does not answer'));
    const { status, headers, text } = await ask(`${await start()}/bundles/lost.tgz`);
    expect([status, text]).toEqual([503, 'the source does not answer\n']);
    expect(headers['retry-after']).toBe('10');
  });

  it('is promised for later while nobody knows which Bundles there are', async () => {
    const uidOf = (): string => {
      throw new WaitingError('not synced');
    };
    const url = await start({ bundles: { uidOf, restore } });
    expect((await ask(`${url}/bundles/my-bundle.tgz`)).status).toBe(503);
  });

  it('is not waited for by a client that leaves', async () => {
    uids.set('lost', '1');
    const abandoned = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<void>();
    restore = (_, signal) => {
      asked.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          abandoned.resolve();
          reject(signal.reason as Error);
        });
      });
    };
    const leaving = new AbortController();
    const headers = { authorization: 'Bearer reader' };
    const url = `${await start()}/bundles/lost.tgz`;
    const answer = request(url, { headers, signal: leaving.signal });
    await asked.promise;
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await abandoned.promise;
  });
});

describe('authorization', () => {
  it.each([
    ['no token', '', 401, 'Unauthorized\n'],
    ['an unknown token', 'nobody', 401, 'Unauthorized\n'],
    [
      'a user without the right',
      'guest',
      403,
      'Forbidden (user=guest, verb=get, resource=, subresource=)\n',
    ],
    [
      'an API server that does not answer',
      'broken',
      503,
      'the API server could not be asked whether to allow this\n',
    ],
  ])('refuses %s, whatever the path', async (...[, token, status, text]) => {
    const server = await start({
      renderMetrics: async () => ({ contentType: 'x/y', body: 'secret' }),
    });
    for (const path of ['/bundles/my-bundle.tgz', '/bundles/unknown.tgz', '/metrics', '/']) {
      expect(await ask(server + path, { token })).toMatchObject({ status, text });
    }
  });

  it.each(['Basic cmVhZGVyOng=', 'Bearer', 'Bearer ', 'Bearer a b', 'reader'])(
    'takes %j for no token',
    async (authorization) => {
      const server = await start();
      const { status } = await ask(server, { token: '', headers: { authorization } });
      expect(status).toBe(401);
      expect(asked).toEqual([]);
    },
  );

  it.each([
    ['GET', 'get'],
    ['HEAD', 'get'],
    ['PUT', 'update'],
    ['POST', 'create'],
    ['PATCH', 'patch'],
    ['DELETE', 'delete'],
    ['OPTIONS', ''],
  ])('asks for %s with the verb "%s" on the decoded path', async (method, verb) => {
    await ask(`${await start()}/uploads/a%20b?x=y`, { method });
    expect(asked).toEqual([{ verb, path: '/uploads/a b' }]);
  });

  it('refuses a path that cannot be decoded', async () => {
    expect(await ask(`${await start()}/bundles/%ff`)).toMatchObject({ status: 400 });
  });

  it('asks the API server once for repeated requests', async () => {
    const server = await start();
    for (let i = 0; i < 12; i += 1) await ask(`${server}/bundles/my-bundle.tgz`);
    expect(asked).toHaveLength(1);
  });
});

describe('the listener', () => {
  it('logs every request, tokens never', async () => {
    const server = await start();
    await ask(`${server}/bundles/my-bundle.tgz`);
    await ask(`${server}/bundles/my-bundle.tgz`, { method: 'HEAD' });
    await ask(`${server}/bundles/unknown.tgz`, { token: 'nobody' });
    const url = '/bundles/my-bundle.tgz';
    expect(logged).toEqual([
      { message: 'responded', method: 'GET', status: 200, url, size: archive.length },
      { message: 'responded', method: 'HEAD', status: 200, url, size: 0 },
      {
        message: 'responded',
        method: 'GET',
        status: 401,
        url: '/bundles/unknown.tgz',
        size: 'Unauthorized\n'.length,
      },
    ]);
  });

  it('measures requests and what it sends', async () => {
    const server = await start();
    await ask(`${server}/bundles/my-bundle.tgz`);
    await ask(`${server}/bundles/my-bundle.tgz`, { headers: { range: 'bytes=0-9' } });
    await ask(`${server}/bundles/unknown.tgz`);
    await expect
      .poll(async () => (await metrics.render()).body.split('\n'))
      .toEqual(
        expect.arrayContaining([
          'rukpak_content_requests_total{method="GET",code="200"} 1',
          'rukpak_content_requests_total{method="GET",code="206"} 1',
          'rukpak_content_requests_total{method="GET",code="404"} 1',
          'rukpak_content_request_duration_seconds_count{method="GET"} 3',
          `rukpak_content_sent_bytes_total ${archive.length + 10}`,
        ]),
      );
  });

  it('serves metrics, and what else it is given', async () => {
    const server = await start({
      renderMetrics: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' }),
      handlers: [
        (request, response, next) => {
          if (request.path === '/uploads/a.tgz') response.status(204).end();
          else next();
        },
      ],
    });
    const { text, headers } = await ask(`${server}/metrics`);
    expect(text).toBe('up 1\n');
    expect(headers['content-type']).toContain('version=0.0.4');
    expect((await ask(`${server}/uploads/a.tgz`)).status).toBe(204);
    expect((await ask(`${server}/uploads/a.tgz`, { token: 'guest' })).status).toBe(403);
    expect((await ask(`${server}/other`)).status).toBe(404);
  });

  it('answers 500 where a handler fails, without telling why', async () => {
    const server = await start({
      renderMetrics: () => Promise.reject(new Error('internal detail')),
    });
    const { status, text } = await ask(`${server}/metrics`);
    expect([status, text]).toEqual([500, 'Internal Server Error\n']);
  });

  it('refuses an address that is taken', async () => {
    const { hostname: host, port } = new URL(await start());
    await expect(start({ address: { host, port: Number(port) } })).rejects.toThrow('EADDRINUSE');
  });
});
