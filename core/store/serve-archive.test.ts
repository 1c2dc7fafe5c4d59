import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ask,
  ContentServerFixture,
  storeBundle,
} from '../../test/helpers/content-server-fixture.ts';
import { defaultLimits } from '../content/index.ts';
import { WaitingError } from '../errors.ts';
import { stamped } from './archive.ts';
import { DiskStore } from './disk-store.ts';

let fixture: ContentServerFixture;

beforeEach(async () => {
  fixture = await ContentServerFixture.create();
});

afterEach(async () => {
  await fixture.remove();
});

describe('archives', () => {
  it('are served whole by GET, with what clients cache and verify by', async () => {
    const server = await fixture.start();
    const { status, headers, body } = await ask(`${server}/bundles/my-bundle.tgz`);
    expect(status).toBe(200);
    expect(body.equals(fixture.archive)).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/x-compressed-tar',
      'content-length': String(fixture.archive.length),
      'accept-ranges': 'bytes',
    });
    expect(Date.parse(String(headers['last-modified']))).toBeGreaterThan(0);
    expect(headers['etag']).toMatch(/^"[0-9a-f]{64}"$/);
    expect(headers['x-powered-by']).toBeUndefined();
  });

  it('are described by HEAD, which needs the same verb as GET', async () => {
    const server = await fixture.start();
    const { status, headers, body } = await ask(`${server}/bundles/my-bundle.tgz`, {
      method: 'HEAD',
    });
    expect(status).toBe(200);
    expect(headers['content-length']).toBe(String(fixture.archive.length));
    expect(body).toHaveLength(0);
    expect(fixture.asked).toEqual([{ verb: 'get', path: '/bundles/my-bundle.tgz' }]);
  });

  it.each([
    ['bytes=0-9', 0, 10],
    ['bytes=10-', 10, undefined],
    ['bytes=-7', -7, undefined],
    ['bytes=5-999999', 5, undefined],
  ])('are served in part for %s', async (range, from, to) => {
    const server = await fixture.start();
    const { status, headers, body } = await ask(`${server}/bundles/my-bundle.tgz`, {
      headers: { range },
    });
    expect(status).toBe(206);
    expect(body.equals(fixture.archive.subarray(from, to))).toBe(true);
    const first = from < 0 ? fixture.archive.length + from : from;
    expect(headers['content-range']).toBe(
      `bytes ${first}-${first + body.length - 1}/${fixture.archive.length}`,
    );
  });

  it('answer a range beyond the end with 416', async () => {
    const server = await fixture.start();
    const { status, headers } = await ask(`${server}/bundles/my-bundle.tgz`, {
      headers: { range: `bytes=${fixture.archive.length}-` },
    });
    expect(status).toBe(416);
    expect(headers['content-range']).toBe(`bytes */${fixture.archive.length}`);
  });

  it.each(['bytes=0-1,4-5', 'lines=1-2', 'nonsense'])('are served whole for %s', async (range) => {
    const server = await fixture.start();
    const { status, body } = await ask(`${server}/bundles/my-bundle.tgz`, { headers: { range } });
    expect(status).toBe(200);
    expect(body).toHaveLength(fixture.archive.length);
  });

  it('honour conditions', async () => {
    const url = `${await fixture.start()}/bundles/my-bundle.tgz`;
    const { headers } = await ask(url);
    const etag = String(headers['etag']);
    const fresh = await ask(url, { headers: { 'if-none-match': etag } });
    expect([fresh.status, fresh.body.length]).toEqual([304, 0]);
    const range = 'bytes=0-0';
    expect((await ask(url, { headers: { range, 'if-range': etag } })).status).toBe(206);
    expect((await ask(url, { headers: { range, 'if-range': '"older"' } })).status).toBe(200);
  });

  it('change their ETag when they are replaced', async () => {
    const url = `${await fixture.start()}/bundles/my-bundle.tgz`;
    const before = (await ask(url)).headers['etag'];
    const store = new DiskStore({
      directory: fixture.directory,
      externalAddress: '',
      limits: defaultLimits,
    });
    await store.put({ name: 'my-bundle', uid: '2' }, { files: new Map(), directories: new Set() });
    fixture.uids.set('my-bundle', '2');
    expect((await ask(url)).headers['etag']).not.toBe(before);
  });

  it('are equal byte for byte on every replica: ETags and ranges of one hold at another', async () => {
    const url = `${await fixture.start()}/bundles/my-bundle.tgz`;
    const other = await mkdtemp(join(tmpdir(), 'replica-'));
    try {
      await storeBundle(other);
      const peer = `${await fixture.start({ directory: other })}/bundles/my-bundle.tgz`;
      const etag = String((await ask(url)).headers['etag']);
      expect((await ask(peer, { headers: { 'if-none-match': etag } })).status).toBe(304);
      const first = await ask(url, { headers: { range: 'bytes=0-99' } });
      const rest = await ask(peer, { headers: { range: 'bytes=100-', 'if-range': etag } });
      expect([first.status, rest.status]).toEqual([206, 206]);
      expect(Buffer.concat([first.body, rest.body]).equals(fixture.archive)).toBe(true);
    } finally {
      await rm(other, { recursive: true });
    }
  });

  it('that an earlier version stored, without a digest, are served all the same', async () => {
    const gzip = Readable.from([gzipSync('tar')]);
    await writeFile(join(fixture.directory, 'old.tgz'), stamped(gzip, { uid: '1' }));
    const url = `${await fixture.start()}/bundles/old.tgz`;
    const { status, headers } = await ask(url);
    expect(status).toBe(200);
    const etag = String(headers['etag']);
    expect((await ask(url, { headers: { 'if-none-match': etag } })).status).toBe(304);
  });

  it('are regular files of a Bundle’s name alone', async () => {
    await mkdir(join(fixture.directory, 'folder.tgz'));
    await symlink('my-bundle.tgz', join(fixture.directory, 'link.tgz'));
    await writeFile(join(fixture.directory, '.half.tmp'), 'x');
    await writeFile(join(fixture.directory, 'secret'), 'x');
    const server = await fixture.start();
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
    const { status, headers } = await ask(`${await fixture.start()}/bundles/my-bundle.tgz`, {
      method,
    });
    expect(status).toBe(405);
    expect(headers['allow']).toBe('GET, HEAD');
  });

  it('survive clients that leave in the middle', async () => {
    const big = stamped(Readable.from([gzipSync(''), Buffer.alloc(20_000_000)]), { uid: '1' });
    await writeFile(join(fixture.directory, 'big.tgz'), big);
    const server = await fixture.start();
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
    await rm(join(fixture.directory, 'my-bundle.tgz'));
    fixture.restore = async (name) => {
      expect(name).toBe('my-bundle');
      await storeBundle(fixture.directory);
      return true;
    };
    const { status, body } = await ask(`${await fixture.start()}/bundles/my-bundle.tgz`);
    expect(status).toBe(200);
    expect(body.equals(fixture.archive)).toBe(true);
  });

  it('is restored where the disk has damaged it, and not served as it is', async () => {
    const path = join(fixture.directory, 'my-bundle.tgz');
    const damaged = Buffer.from(fixture.archive);
    damaged[damaged.length - 12] = (damaged.at(-12) ?? 0) ^ 1;
    await writeFile(path, damaged);
    fixture.restore = async () => {
      await storeBundle(fixture.directory);
      return true;
    };
    const { status, body } = await ask(`${await fixture.start()}/bundles/my-bundle.tgz`);
    expect(status).toBe(200);
    expect(body.equals(fixture.archive)).toBe(true);
    await writeFile(path, damaged);
    fixture.restore = () => Promise.reject(new WaitingError('the source does not answer'));
    expect((await ask(`${await fixture.start()}/bundles/my-bundle.tgz`)).status).toBe(503);
  });

  it('of a namesake that came later is never taken for what is stored', async () => {
    fixture.uids.set('my-bundle', '2');
    const url = `${await fixture.start()}/bundles/my-bundle.tgz`;
    expect((await ask(url)).status).toBe(404);
    fixture.restore = () => Promise.reject(new WaitingError('the source does not answer'));
    expect((await ask(url)).status).toBe(503);
  });

  it('is of another pin than that of the Bundle now: a backup may be older than what is stored', async () => {
    await storeBundle(fixture.directory, 'sha256:earlier');
    fixture.pins.set('my-bundle', 'sha256:earlier');
    const url = `${await fixture.start()}/bundles/my-bundle.tgz`;
    expect((await ask(url)).status).toBe(200);
    fixture.pins.set('my-bundle', 'sha256:later');
    fixture.restore = () => Promise.reject(new WaitingError('the source does not answer'));
    expect((await ask(url)).status).toBe(503);
  });

  it('of a Bundle that is gone is not served, though it is still stored', async () => {
    fixture.uids.delete('my-bundle');
    fixture.restore = () => Promise.reject(new Error('must not be asked'));
    expect((await ask(`${await fixture.start()}/bundles/my-bundle.tgz`)).status).toBe(404);
  });

  it('and cannot be restored now is promised for later', async () => {
    fixture.uids.set('lost', '1');
    fixture.restore = () => Promise.reject(new WaitingError('the source does not answer'));
    const { status, headers, text } = await ask(`${await fixture.start()}/bundles/lost.tgz`);
    expect([status, text]).toEqual([503, 'the source does not answer\n']);
    expect(headers['retry-after']).toBe('10');
  });

  it('is promised for later while nobody knows which Bundles there are', async () => {
    const keyOf = (): never => {
      throw new WaitingError('not synced');
    };
    const url = await fixture.start({ bundles: { keyOf, restore: fixture.restore } });
    expect((await ask(`${url}/bundles/my-bundle.tgz`)).status).toBe(503);
  });

  it('is not waited for by a client that leaves', async () => {
    fixture.uids.set('lost', '1');
    const abandoned = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    fixture.restore = (_, signal) => {
      arrived.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          abandoned.resolve();
          reject(signal.reason as Error);
        });
      });
    };
    const leaving = new AbortController();
    const headers = { authorization: 'Bearer reader' };
    const url = `${await fixture.start()}/bundles/lost.tgz`;
    const answer = request(url, { headers, signal: leaving.signal });
    await arrived.promise;
    leaving.abort();
    await expect(answer).rejects.toThrow();
    await abandoned.promise;
  });
});
