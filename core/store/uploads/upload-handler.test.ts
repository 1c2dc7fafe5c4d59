import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import express from 'express';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import type { ContentKey } from '../../contracts/store.ts';
import { DirectoryUploads } from './directory-uploads.ts';
import { createUploadHandler, type UploadBundles } from './upload-handler.ts';

const maxBytes = 2_000_000;
const { signal } = new AbortController();

let directory: string;
let server: Server;
let store: DirectoryUploads;
let bundles: Map<string, Bundle>;
let clock: ManualClock;
const announce = vi.fn<UploadBundles['announce']>();
const claim = vi.fn<UploadBundles['claim']>();

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'upload-handler-'));
  store = new DirectoryUploads(directory);
  bundles = new Map([['demo', anUploadBundle()]]);
  announce.mockReset().mockResolvedValue(true);
  claim.mockReset().mockResolvedValue(true);
  const find = async (name: string): Promise<Bundle | undefined> => bundles.get(name);
  const app = express();
  app.disable('etag');
  app.use(({ headers }, response, next) => {
    response.locals['user'] = headers['x-user'] ?? 'alice';
    next();
  });
  clock = new ManualClock();
  const given = { store, directory, maxBytes, clock };
  app.use(createUploadHandler({ ...given, bundles: { find, claim, announce } }));
  server = createServer(app).on('checkContinue', app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await rm(directory, { recursive: true });
});

function anUploadBundle(
  phase?: 'Pending' | 'Failing' | 'Unpacked',
  { name = 'demo', pin = '' } = {},
): Bundle {
  const source = { type: 'upload', upload: {} };
  const metadata = { annotations: { 'core.rukpak.io/pin': pin } };
  const bundle = aStoredBundle({ name, source });
  return {
    ...bundle,
    metadata: { ...bundle.metadata, ...metadata },
    ...(phase === undefined ? {} : { status: { phase } }),
  };
}

function pinOf(bytes: string): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

interface Sent {
  readonly method?: string;
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** By node:http: fetch takes no part in `Expect`. */
async function send(path: string, { method = 'PUT', body = '', headers = {} }: Sent = {}) {
  const { port } = server.address() as AddressInfo;
  const sent = request({ port, host: '127.0.0.1', path, method, headers, agent: false });
  sent.on('error', () => undefined);
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return {
    status: response.statusCode,
    type: response.headers['content-type'],
    allow: response.headers.allow,
    text: await text(response),
  };
}

async function stored(key: ContentKey = { name: 'demo', uid: 'uid-of-demo' }) {
  const stream = await store.read(key);
  return stream && (await text(stream));
}

const plain = 'text/plain; charset=utf-8';

describe('PUT', () => {
  test('stores the bytes as they are, and tells the Bundle', async () => {
    expect(await send('/uploads/demo.tgz', { body: 'bytes' })).toMatchObject({
      status: 201,
      text: '',
    });
    expect(await stored()).toBe('bytes');
    expect(announce.mock.calls.map(([key]) => key)).toEqual([{ name: 'demo', uid: 'uid-of-demo' }]);
    expect(await readdir(directory)).toEqual(['demo.uid-of-demo.tgz']);
  });

  test('is answered however long the cluster takes to store it: the idle connection stays open', async () => {
    server.setTimeout(60_000);
    const connected = once(server, 'connection') as Promise<[Socket]>;
    let timeout: number | undefined;
    claim.mockImplementation(async () => {
      const [socket] = await connected;
      ({ timeout } = socket);
      return true;
    });
    expect(await send('/uploads/demo.tgz', { body: 'bytes' })).toMatchObject({ status: 201 });
    expect(timeout).toBeGreaterThan(300_000);
  });

  test('of the same bytes is 204, and tells the Bundle too: the first may not have come to it', async () => {
    await send('/uploads/demo.tgz', { body: 'bytes' });
    expect(await send('/uploads/demo.tgz', { body: 'bytes' })).toMatchObject({
      status: 204,
      text: '',
    });
    expect(announce).toHaveBeenCalledTimes(2);
  });

  test.each(['Pending', 'Failing'] as const)(
    'of other bytes replaces those of a %s Bundle',
    async (phase) => {
      await send('/uploads/demo.tgz', { body: 'bad' });
      bundles.set('demo', anUploadBundle(phase));
      expect(await send('/uploads/demo.tgz', { body: 'good' })).toMatchObject({ status: 201 });
      expect(await stored()).toBe('good');
    },
  );

  test('of other bytes is refused once the Bundle is unpacked', async () => {
    await send('/uploads/demo.tgz', { body: 'bytes' });
    bundles.set('demo', anUploadBundle('Unpacked'));
    expect(await send('/uploads/demo.tgz', { body: 'other' })).toEqual({
      status: 409,
      type: plain,
      allow: undefined,
      text: 'bundle has already been unpacked, cannot change content of existing bundle\n',
    });
    expect(await send('/uploads/demo.tgz', { body: 'bytes' })).toMatchObject({ status: 204 });
    expect(await stored()).toBe('bytes');
  });

  test.each(['Pending', 'Failing', 'Unpacked'] as const)(
    'of other bytes is refused once it was unpacked, although its status says %s; lost ones come back',
    async (phase) => {
      await send('/uploads/demo.tgz', { body: 'bytes' });
      const bundle = anUploadBundle(phase, { pin: pinOf('bytes') });
      bundles.set('demo', bundle);
      for (const isLost of [false, true]) {
        if (isLost) await store.delete({ name: 'demo', uid: 'uid-of-demo' });
        expect(await send('/uploads/demo.tgz', { body: 'other' })).toMatchObject({
          status: 409,
          text: 'bundle has already been unpacked, cannot change content of existing bundle\n',
        });
        expect(await stored()).toBe(isLost ? undefined : 'bytes');
      }
      expect(await send('/uploads/demo.tgz', { body: 'bytes' })).toMatchObject({ status: 201 });
      expect(await stored()).toBe('bytes');
    },
  );

  test('of other bytes is refused, although stored, once it was unpacked from others', async () => {
    await send('/uploads/demo.tgz', { body: 'bytes' });
    bundles.set('demo', anUploadBundle('Failing', { pin: pinOf('other') }));
    expect(await send('/uploads/demo.tgz', { body: 'bytes' })).toMatchObject({ status: 409 });
    bundles.set('demo', anUploadBundle('Failing'));
    announce.mockResolvedValue(false);
    expect(await send('/uploads/demo.tgz', { body: 'bytes' })).toMatchObject({ status: 409 });
  });

  test('of other bytes is refused when the Bundle was unpacked while they arrived', async () => {
    await send('/uploads/demo.tgz', { body: 'bytes' });
    announce.mockClear();
    claim.mockImplementation(async () => {
      expect(await stored()).toBe('bytes');
      return false;
    });
    expect(await send('/uploads/demo.tgz', { body: 'other' })).toMatchObject({
      status: 409,
      text: 'bundle has already been unpacked, cannot change content of existing bundle\n',
    });
    expect(await stored()).toBe('bytes');
    expect(announce).not.toHaveBeenCalled();
    expect(await readdir(directory)).toEqual(['demo.uid-of-demo.tgz']);
  });

  test('for a Bundle that is not there, or has another source', async () => {
    expect(await send('/uploads/none.tgz', { body: 'bytes' })).toMatchObject({
      status: 404,
      type: plain,
      text: 'Bundle.core.rukpak.io "none" not found\n',
    });
    bundles.set('image', aStoredBundle({ name: 'image' }));
    expect(await send('/uploads/image.tgz', { body: 'bytes' })).toMatchObject({
      status: 409,
      type: plain,
      text: 'bundle source type is "image"; expected "upload"\n',
    });
    expect(await readdir(directory)).toEqual([]);
  });

  test('that cannot be stored says why', async () => {
    await rm(directory, { recursive: true });
    const { status, text } = await send('/uploads/demo.tgz', { body: 'bytes' });
    expect(status).toBe(500);
    expect(text).toMatch(/^failed to store bundle data: ENOENT: .*\n$/);
    const { mkdir } = await import('node:fs/promises');
    await mkdir(directory);
    expect(announce).not.toHaveBeenCalled();
    await chmod(directory, 0o700);
  });

  test('is not for a namesake of the Bundle that the body was meant for', async () => {
    const { port } = server.address() as AddressInfo;
    const sent = request({ port, host: '127.0.0.1', path: '/uploads/demo.tgz', method: 'PUT' });
    sent.write('first half');
    await eventually(async () => expect(await readdir(directory)).toHaveLength(1));
    const namesake = anUploadBundle();
    bundles.set('demo', { ...namesake, metadata: { ...namesake.metadata, uid: 'another' } });
    sent.end(', second half');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect([response.statusCode, await text(response)]).toEqual([
      404,
      'Bundle.core.rukpak.io "demo" was deleted during the upload\n',
    ]);
    expect(await readdir(directory)).toEqual([]);
  });
});

describe('a body that is too large', () => {
  const answer = {
    status: 413,
    type: plain,
    text: 'the upload is larger than the limit of 2000000 bytes (--max-upload-bytes)\n',
  };

  test('is refused by its length, before anything of it is asked for', async () => {
    const { port } = server.address() as AddressInfo;
    const headers = { 'Content-Length': maxBytes + 1, Expect: '100-continue' };
    const sent = request({
      port,
      host: '127.0.0.1',
      path: '/uploads/demo.tgz',
      method: 'PUT',
      headers,
    });
    const continued = vi.fn();
    sent.on('continue', continued).on('error', () => undefined);
    sent.flushHeaders();
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(413);
    expect(await text(response)).toBe(answer.text);
    expect(continued).not.toHaveBeenCalled();
    sent.destroy();
  });

  test('is refused while it comes, and nothing is left of it', async () => {
    const headers = { 'Transfer-Encoding': 'chunked' };
    const body = Buffer.alloc(maxBytes + 1);
    expect(await send('/uploads/demo.tgz', { body, headers })).toMatchObject(answer);
    expect(await readdir(directory)).toEqual([]);
    expect(announce).not.toHaveBeenCalled();
  });

  test('gets its answer although it goes on, for a while', { tags: ['slow'] }, async () => {
    const { port } = server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write('PUT /uploads/demo.tgz HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n');
    const sending = setInterval(() => socket.write('x'.repeat(1000)), 50);
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    // The server ends the connection, by a reset where bytes of the client are under way.
    await new Promise((resolve) => socket.on('close', resolve));
    clearInterval(sending);
    expect(answer).toContain('413 Payload Too Large');
  });
});

test('a body that breaks off leaves nothing', async () => {
  const { port } = server.address() as AddressInfo;
  const headers = { 'Content-Length': 100 };
  const sent = request({
    port,
    host: '127.0.0.1',
    path: '/uploads/demo.tgz',
    method: 'PUT',
    headers,
  });
  sent.on('error', () => undefined).write('half');
  await eventually(async () => expect(await readdir(directory)).toHaveLength(1));
  sent.destroy();
  await eventually(async () => expect(await readdir(directory)).toEqual([]));
  expect(announce).not.toHaveBeenCalled();
  expect(await send('/uploads/demo.tgz', { body: 'whole' })).toMatchObject({ status: 201 });
});

test('a body is asked for where the client waits for that', async () => {
  const { port } = server.address() as AddressInfo;
  const headers = { 'Content-Length': 5, Expect: '100-continue' };
  const sent = request({
    port,
    host: '127.0.0.1',
    path: '/uploads/demo.tgz',
    method: 'PUT',
    headers,
  });
  sent.on('continue', () => sent.end('bytes'));
  sent.flushHeaders();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  expect(response.statusCode).toBe(201);
  expect(await stored()).toBe('bytes');
});

describe('uploads at the same time', () => {
  /** Sends the headers, and the body only when the test does. */
  function begin(name: string, user = 'alice', length = 5) {
    const { port } = server.address() as AddressInfo;
    const headers = { 'x-user': user, 'Content-Length': length, Expect: '100-continue' };
    const path = `/uploads/${name}.tgz`;
    const sent = request({ port, host: '127.0.0.1', path, method: 'PUT', headers, agent: false });
    const continued = vi.fn();
    sent.on('continue', continued).on('error', () => undefined);
    sent.flushHeaders();
    const answer = once(sent, 'response').then(async ([response]) => {
      const { statusCode: status, headers } = response as IncomingMessage;
      const retryAfter = headers['retry-after'];
      return { status, retryAfter, text: await text(response as IncomingMessage) };
    });
    answer.catch(() => undefined);
    return { sent, continued, answer };
  }

  /** Running ones of one user for Bundles that there are. */
  async function beginMany(count: number, user: string, length?: number) {
    const running = Array.from({ length: count }, (_, index) => {
      const name = `${user.replaceAll(':', '-')}-${index}`;
      bundles.set(name, anUploadBundle(undefined, { name }));
      return begin(name, user, length);
    });
    await eventually(() => {
      for (const { continued } of running) expect(continued).toHaveBeenCalled();
    });
    return running;
  }

  test('of one Bundle are one: another one is refused before its body, until that has ended', async () => {
    const first = begin('demo');
    await eventually(() => expect(first.continued).toHaveBeenCalled());
    const second = begin('demo', 'bob');
    expect(await second.answer).toEqual({
      status: 429,
      retryAfter: '5',
      text: 'Bundle "demo" is being uploaded already: wait until that upload has ended\n',
    });
    expect(second.continued).not.toHaveBeenCalled();
    first.sent.end('first');
    expect((await first.answer).status).toBe(201);
    expect(await stored()).toBe('first');
    expect(await send('/uploads/demo.tgz', { body: 'other' })).toMatchObject({ status: 201 });
    const broken = begin('demo');
    await eventually(() => expect(broken.continued).toHaveBeenCalled());
    broken.sent.destroy();
    await eventually(async () => {
      expect(await send('/uploads/demo.tgz', { body: 'whole' })).toMatchObject({ status: 201 });
    });
  });

  test('of one user are 4, and the ServiceAccounts of a namespace are one user', async () => {
    const accounts = ['a', 'b'].map((name) => `system:serviceaccount:team:${name}`);
    for (const account of accounts) await beginMany(2, account);
    const refused = begin('demo', 'system:serviceaccount:team:c');
    expect(await refused.answer).toEqual({
      status: 429,
      retryAfter: '5',
      text: 'namespace team uploads 4 Bundles at the same time already: wait until one of them has ended\n',
    });
    expect(refused.continued).not.toHaveBeenCalled();
    expect(await send('/uploads/demo.tgz', { body: 'bytes' })).toMatchObject({ status: 201 });
  });

  test('that bring less than 64 KiB in 30 s are ended, and their places are free', async () => {
    const slow = await beginMany(4, 'alice');
    const going = begin('demo', 'bob', 128 * 1024);
    await eventually(() => expect(going.continued).toHaveBeenCalled());
    going.sent.write(Buffer.alloc(64 * 1024));
    await eventually(async () => expect(await received()).toContain(64 * 1024));
    clock.advance(30_000);
    for (const { answer } of slow) {
      expect(await answer).toEqual({
        status: 408,
        retryAfter: undefined,
        text: 'the server received less than 64 KiB in 30 s: repeat the upload over a faster connection\n',
      });
    }
    going.sent.end(Buffer.alloc(64 * 1024));
    expect((await going.answer).status).toBe(201);
    expect(await readdir(directory)).toEqual(['demo.uid-of-demo.tgz']);
    for (const { sent } of await beginMany(4, 'alice')) sent.destroy();
  });

  /** Sizes of the bodies so far. */
  async function received(): Promise<readonly number[]> {
    const files = await readdir(directory);
    return await Promise.all(files.map(async (file) => (await stat(join(directory, file))).size));
  }

  test('are 16 in all', async () => {
    for (const user of ['a', 'b', 'c', 'd']) await beginMany(4, user);
    const refused = begin('demo', 'e');
    expect(await refused.answer).toEqual({
      status: 503,
      retryAfter: '5',
      text: '16 Bundles are being uploaded at the same time already: try again\n',
    });
    expect(refused.continued).not.toHaveBeenCalled();
  });

  test('end when all places are taken: the slowest for its user, in favour of one with fewer', async () => {
    const users = ['a', 'b', 'c', 'd'];
    const running = (await Promise.all(users.map((user) => beginMany(4, user, maxBytes)))).flat();
    // 4 places may be had at 128 KiB/s: the first one is a little slower.
    const bytes = running.map((_, index) => (index === 0 ? 1_279 : 1_280) * 1024);
    for (const [index, { sent }] of running.entries()) sent.write(Buffer.alloc(bytes[index]!));
    await eventually(async () => expect(new Set(await received())).toEqual(new Set(bytes)));
    clock.advance(9_999);
    const refused = begin('demo', 'e');
    expect((await refused.answer).status).toBe(503);
    clock.advance(1);
    expect(
      await send('/uploads/demo.tgz', { body: 'bytes', headers: { 'x-user': 'e' } }),
    ).toMatchObject({ status: 201 });
    expect(await running[0]?.answer).toEqual({
      status: 503,
      retryAfter: '5',
      text: 'all 16 places for uploads are taken, 4 of them by user a: this upload brought less than 128 KiB/s, and made place for one of another user. Repeat it over a faster connection, or when fewer uploads run\n',
    });
    expect(await received()).toHaveLength(16);
  });
});

describe('GET', () => {
  test('returns the bytes that were put', async () => {
    await send('/uploads/demo.tgz', { body: 'bytes' });
    const type = 'application/x-compressed-tar';
    expect(await send('/uploads/demo.tgz', { method: 'GET' })).toMatchObject({
      status: 200,
      type,
      text: 'bytes',
    });
    const read = vi.spyOn(store, 'read');
    expect(await send('/uploads/demo.tgz', { method: 'HEAD' })).toMatchObject({
      status: 200,
      type,
      text: '',
    });
    expect(read).not.toHaveBeenCalled();
  });

  test.each(['demo', 'none'])('of %s without an upload is 404', async (name) => {
    for (const [method, text] of Object.entries({ GET: '404 page not found\n', HEAD: '' })) {
      const answer = { status: 404, text };
      expect(await send(`/uploads/${name}.tgz`, { method })).toMatchObject(answer);
    }
  });
});

test.each(['POST', 'DELETE', 'PATCH'])('%s is no method of uploads', async (method) => {
  expect(await send('/uploads/demo.tgz', { method })).toMatchObject({
    status: 405,
    allow: 'GET, HEAD, PUT',
  });
});

test.each([
  '/uploads/',
  '/uploads/demo',
  '/uploads/demo.tar',
  '/uploads/.tgz',
  '/uploads/..%2Fx.tgz',
  '/uploads/a/b.tgz',
])('%s is nothing that could be put', async (path) => {
  expect(await send(path, { body: 'bytes' })).toMatchObject({ status: 404 });
  expect(await store.digest({ name: 'x', uid: 'x' })).toBeUndefined();
  expect(signal.aborted).toBe(false);
});
