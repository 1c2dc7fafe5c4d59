import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CatalogHttpServer, ContentCache, ServedCatalog } from '../index.ts';

const signal = new AbortController().signal;
const lines = [
  '{"defaultChannel":"stable","name":"a","schema":"olm.package"}',
  '{"entries":[{"name":"a.v1"},{"name":"a.v2","replaces":"a.v1"}],"name":"stable","package":"a","schema":"olm.channel"}',
  bundle('a.v1', '1.0.0'),
  bundle('a.v2', '2.0.0'),
  '{"note":"héllo","package":"a","schema":"acme.note"}',
];
const all = `${lines.join('\n')}\n`;

function bundle(name: string, version: string): string {
  const value = `{"packageName":"a","version":"${version}"}`;
  const property = `{"type":"olm.package","value":${value}}`;
  return `{"image":"quay.io/a/${name}","name":"${name}","package":"a","properties":[${property}],"schema":"olm.bundle"}`;
}

let directory: string;
let catalog: ServedCatalog;
let server: CatalogHttpServer;
let port: number;
const errors: unknown[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'catalog-http-'));
  catalog = new ServedCatalog('shop', await contentOf(all));
  const address = { host: '127.0.0.1', port: 0 };
  const onError = (error: unknown) => void errors.push(error);
  server = new CatalogHttpServer({ catalogs: [catalog], address, onError });
  ({ port } = await server.listen());
});

afterAll(async () => {
  await server.close();
  await catalog.close();
  await rm(directory, { recursive: true });
  expect(errors).toEqual([]);
});

async function contentOf(content: string): ReturnType<ContentCache['open']> {
  const source = await mkdtemp(join(directory, 'source-'));
  await writeFile(join(source, 'catalog.json'), content);
  return await new ContentCache(await mkdtemp(join(directory, 'cache-'))).open(source, { signal });
}

async function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return await fetch(`http://127.0.0.1:${port}${path}`, { headers });
}

describe('a catalog over HTTP', () => {
  test.each([
    ['/catalogs/shop/all.json', 'application/json'],
    ['/catalogs/shop/api/v1/all', 'application/jsonl'],
    ['/catalogs/shop/api/v1/metas', 'application/jsonl'],
  ])('%s is all of it', async (path, type) => {
    const response = await get(path);
    expect(response.headers.get('content-type')).toBe(type);
    expect(await response.text()).toBe(all);
  });

  test.each([
    ['schema=olm.bundle', [2, 3]],
    ['package=a', [1, 2, 3, 4]],
    ['schema=olm.package&name=a', [0]],
    ['package=a&schema=olm.bundle&name=a.v2', [3]],
    ['schema=olm.bundle&schema=olm.package', [2, 3]],
    ['schema=&package=&name=stable', [1]],
    ['name=%61.v1', [2]],
    ['name=', [0, 1, 2, 3, 4]],
    ['name=__proto__', []],
    ['package=..%2F..%2Fetc', []],
    ['name=%ff%00', []],
  ])('metas?%s are the blobs that match', async (query, numbers) => {
    const matching = numbers.map((number) => `${lines[number]}\n`).join('');
    for (const path of ['api/v1/metas', 'all.json']) {
      const response = await get(`/catalogs/shop/${path}?${query}`);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe(matching);
    }
  });

  test('all.json with other parameters is all of it', async () => {
    expect(await (await get('/catalogs/shop/all.json?schema=olm.bundle&x=y')).text()).toBe(all);
  });

  test('is answered with 304 until it changes', async () => {
    const path = '/catalogs/shop/api/v1/metas?package=a';
    const { headers } = await get(path);
    const tag = headers.get('etag') ?? '';
    const modified = headers.get('last-modified') ?? '';
    const same = await get(path, { 'if-none-match': `"x", W/${tag}` });
    expect([same.status, await same.text()]).toEqual([304, '']);
    expect((await get(path, { 'if-modified-since': modified })).status).toBe(304);
    expect(
      (await get(path, { 'if-none-match': '"x"', 'if-modified-since': modified })).status,
    ).toBe(200);
    expect((await get(path, { 'if-match': '"x"' })).status).toBe(412);
  });

  test.each([
    ['bytes=0-4', 206, all.slice(0, 5)],
    ['bytes=60-70', 206, all.slice(60, 71)],
    ['bytes=-4', 206, all.slice(-4)],
    ['bytes=5-99999', 206, all.slice(5)],
    ['bytes=99999-', 416, ''],
    ['bytes=9-5', 416, ''],
    ['bytes=-0', 416, ''],
    ['bytes=0-1,3-4', 200, all],
    ['lines=1-2', 200, all],
  ])('with Range %s', async (range, status, expected) => {
    const response = await get('/catalogs/shop/api/v1/all', { range });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect([response.status, bytes.toString()]).toEqual([status, expected]);
  });

  test('gives a range of blobs that are not neighbours', async () => {
    const path = '/catalogs/shop/api/v1/metas?name=a.v1';
    const whole = `${lines[2]}\n`;
    const response = await get(path, { range: 'bytes=3-10', 'if-range': '"another state"' });
    expect([response.status, await response.text()]).toEqual([200, whole]);
    const tag = response.headers.get('etag') ?? '';
    const part = await get(path, { range: 'bytes=3-10', 'if-range': tag });
    expect(part.headers.get('content-range')).toBe(`bytes 3-10/${whole.length}`);
    expect(await part.text()).toBe(whole.slice(3, 11));
  });

  test('is compressed for who takes gzip, if it is large', async () => {
    const large = '{"schema":"acme","text":"'.concat('x'.repeat(300_000), '"}\n');
    const zipped = new ServedCatalog('zipped', await contentOf(large));
    const address = { host: '127.0.0.1', port: 0 };
    const other = new CatalogHttpServer({ catalogs: [zipped], address, onError: () => undefined });
    const listening = await other.listen();
    const path = { port: listening.port, path: '/catalogs/zipped/all.json' };
    const { headers, body } = await raw({ ...path, headers: { 'accept-encoding': 'br, gzip' } });
    expect(headers['content-encoding']).toBe('gzip');
    expect(headers['etag']).toMatch(/-gzip"$/);
    expect(gunzipSync(body).toString()).toBe(large);
    const tag = String(headers['etag']);
    const same = await raw({
      ...path,
      headers: { 'accept-encoding': 'gzip', 'if-none-match': `"x", ${tag}` },
    });
    expect([same.statusCode, same.headers['etag']]).toEqual([304, tag]);
    const plain = await raw({ ...path, headers: { 'accept-encoding': 'gzip;q=0' } });
    expect([plain.headers['content-encoding'], plain.body.length]).toEqual([
      undefined,
      large.length,
    ]);
    await other.close();
    await zipped.close();
  });

  test('HEAD has the headers alone', async () => {
    const url = `http://127.0.0.1:${port}/catalogs/shop/api/v1/all`;
    const response = await fetch(url, { method: 'HEAD' });
    expect(Number(response.headers.get('content-length'))).toBe(Buffer.byteLength(all));
    expect(await response.text()).toBe('');
  });

  test.each([
    ['GET', '/catalogs/nowhere/api/v1/all', 404, '404 Not Found\n'],
    ['GET', '/catalogs/__proto__/api/v1/all', 404, '404 Not Found\n'],
    ['GET', '/catalogs/..%2f..%2fetc/all.json', 404, '404 Not Found\n'],
    ['GET', '/catalogs/%zz/all.json', 400, '400 Bad Request\n'],
    ['GET', '/catalogs/shop/api/v1/metas?pkg=a', 400, '400 Bad Request\n'],
    ['GET', '/catalogs/shop/api/v1/metas?__proto__=a', 400, '400 Bad Request\n'],
    ['POST', '/catalogs/shop/api/v1/all', 405, 'Method Not Allowed\n'],
    ['GET', '/', 404, '404 page not found\n'],
    ['GET', '/catalogs/', 404, '404 page not found\n'],
    ['GET', '/catalogs/shop', 404, '404 page not found\n'],
    ['GET', 'http://x/catalogs/../y', 404, '404 page not found\n'],
    ['POST', '/catalogs', 405, 'Method Not Allowed\n'],
  ])('%s %s is refused', async (...[method, path, ...expected]) => {
    const { statusCode, body } = await raw({ port, path, method });
    expect([statusCode, body.toString()]).toEqual(expected);
  });

  test.each([
    ['/catalogs', '/catalogs/'],
    ['/catalogs?a=b&c', '/catalogs/?a=b&c'],
    ['/catalogs/../../etc/passwd', '/etc/passwd'],
    ['/catalogs/./shop//all.json', '/catalogs/shop/all.json'],
    ['/catalogs/shop/..', '/catalogs/'],
    ['/catalogs/shop/../', '/catalogs/'],
    ['//example.com/..//', '/'],
    ['//example.com', '/example.com'],
    ['/x/../\\example.com', '/%5Cexample.com'],
    ['/x/../"><b>', '/%22%3E%3Cb%3E'],
  ])('%s is redirected to %s', async (path, location) => {
    const { statusCode, headers, body } = await raw({ port, path });
    expect([statusCode, headers['location']]).toEqual([301, location]);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    const href = location.replace('&', '&amp;');
    expect(body.toString()).toBe(`<a href="${href}">Moved Permanently</a>.\n\n`);
  });

  test('reads a long query', async () => {
    const query = 'name=a.v1&'.repeat(1000);
    const response = await get(`/catalogs/shop/api/v1/metas?${query}`);
    expect(await response.text()).toBe(`${lines[2]}\n`);
  });

  test('refuses a request with huge headers', async () => {
    const { statusCode } = await raw({ port, path: '/', headers: { large: 'x'.repeat(40_000) } });
    expect(statusCode).toBe(431);
  });

  test('is replaced at once, while a request reads the former content to its end', async () => {
    const swapped = new ServedCatalog('swapped', await contentOf(`${lines[4]}\n`));
    const former = swapped.borrow();
    await swapped.replace(await contentOf(`${lines[4]}\n${lines[4]}\n`));
    await using now = swapped.borrow();
    expect(now.content.blobs.index.blobs).toBe(2);
    const buffer = Buffer.alloc(former.content.blobs.size);
    await former.content.blobs.readInto(buffer, former.content.blobs.index.ranges({}));
    expect(buffer.toString()).toBe(`${lines[4]}\n`);
    await former[Symbol.asyncDispose]();
    await expect(former.content.blobs.readInto(buffer, [{ start: 0, end: 1 }])).rejects.toThrow();
    await swapped.close();
  });

  test('survives who breaks off', async () => {
    const socket = connect(port, '127.0.0.1');
    socket.end('GET /catalogs/shop/all.json HTTP/1.1\r\nHost: x\r\n\r\n');
    socket.destroy();
    expect((await get('/catalogs/shop/all.json')).status).toBe(200);
  });
});

test.each([
  [
    'a package alone is validated',
    lines.slice(0, 1),
    'build package index: process package "a": invalid index:',
  ],
  ['an odd blob', ['{"schema":1}'], 'to be a string'],
])('what is not valid is not served: %s', async (_, written, message) => {
  await expect(contentOf(written.join('\n'))).rejects.toThrow(message);
});

interface RawRequest {
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** As it is written: fetch cleans paths and unpacks bodies. */
async function raw({ port: to, ...options }: RawRequest) {
  return await new Promise<{
    statusCode: number | undefined;
    headers: NodeJS.Dict<string | string[]>;
    body: Buffer;
  }>((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port: to, agent: false, ...options });
    request.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const { statusCode, headers } = response;
        resolve({ statusCode, headers, body: Buffer.concat(chunks) });
      });
    });
    request.end();
  });
}
