import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CatalogHttpServer, ContentCache, ServedCatalog } from '../index.ts';

/** More than the buffers of a connection have room for. */
const line = `{"schema":"acme","text":"${'x'.repeat(16 * 1024 * 1024)}"}\n`;
const path = '/catalogs/large/api/v1/all';

let directory: string;
let catalog: ServedCatalog;
let server: CatalogHttpServer;
let port: number;
/** Number of requests that the server has begun to answer. */
let begun = 0;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pipelined-'));
  const cache = new ContentCache(join(directory, 'cache'));
  const { signal } = new AbortController();
  const source = await mkdtemp(join(directory, 'source-'));
  await writeFile(join(source, 'catalog.json'), line);
  catalog = new ServedCatalog('large', await cache.open(source, { signal }));
  server = new CatalogHttpServer({
    catalogs: () => {
      begun += 1;
      return catalog;
    },
    address: { host: '127.0.0.1', port: 0 },
    onError: () => undefined,
  });
  ({ port } = await server.listen());
});

afterAll(async () => {
  await server.close();
  await catalog.close();
  await rm(directory, { recursive: true });
});

function requestOf(headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
}

test('a client that sends requests and reads no answer has one answered', {
  tags: ['slow'],
}, async () => {
  begun = 0;
  const socket = connect(port, '127.0.0.1');
  socket.write(requestOf().repeat(3) + requestOf('Connection: close\r\n'));
  await once(socket, 'readable');
  const other = await fetch(`http://127.0.0.1:${port}${path}`);
  await other.arrayBuffer();
  expect(begun).toBe(2);
  // And all of them, in order, once it reads.
  const answers = await text(socket);
  expect(answers.split(line)).toHaveLength(5);
  expect(answers.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(4);
  expect(begun).toBe(5);
});

test('a client that disconnects leaves no request to answer', async () => {
  begun = 0;
  const socket = connect(port, '127.0.0.1');
  socket.write(requestOf().repeat(3));
  await once(socket, 'readable');
  socket.destroy();
  const other = await fetch(`http://127.0.0.1:${port}${path}`);
  await other.arrayBuffer();
  expect(begun).toBe(2);
});
