import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:http2';
import { type ListenOptions, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { RegistryClient } from '../../../test/helpers/registry-client.ts';
import { servedCatalog } from '../../../test/helpers/served-catalog.ts';
import { ContentCache, RegistryServer, ServedCatalog } from '../index.ts';
import { protocol } from './protocol.ts';
import { ReflectionStream } from './reflection.ts';

const signal = new AbortController().signal;
let directory: string;
let catalog: ServedCatalog;
let server: RegistryServer;
let client: RegistryClient;
let port: number;
const errors: unknown[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'registry-server-'));
  catalog = new ServedCatalog('crafted', await contentOf(servedCatalog));
  const onError = (error: unknown) => void errors.push(error);
  const address = { host: '127.0.0.1', port: 0 };
  server = new RegistryServer({ catalog, address, onError });
  port = await server.listen();
  client = new RegistryClient(port);
});

afterAll(async () => {
  client[Symbol.dispose]();
  await server.close();
  await catalog.close();
  await rm(directory, { recursive: true });
});

async function contentOf(content: string): ReturnType<ContentCache['open']> {
  const source = await mkdtemp(join(directory, 'source-'));
  await writeFile(join(source, 'catalog.json'), content);
  return await new ContentCache(await mkdtemp(join(directory, 'cache-'))).open(source, { signal });
}

test('bundles are listed by channel and name, with manifests only where no image has them', async () => {
  const { messages } = await client.call('api.Registry/ListBundles');
  const bundles = messages.map((message) => client.json('api.Bundle', message));
  expect(bundles).toMatchObject([
    { channelName: 'Beta', csvName: 'crafted.v5', object: [expect.stringContaining('ConfigMap')] },
    { channelName: 'fast', csvName: 'crafted.v3', deprecation: { message: 'the bundle' } },
    { channelName: 'fast', csvName: 'crafted.v4', skips: ['twice', 'crafted.v2'] },
    { channelName: 'stable', csvName: 'crafted.v1', version: '1.0.0-rc.1+b' },
    { channelName: 'stable', csvName: 'crafted.v2', skipRange: '<2.0.0' },
    { channelName: 'stable', csvName: 'crafted.v3', replaces: 'crafted.v2' },
  ]);
  expect(bundles.map((bundle) => (bundle as { csvJson?: string }).csvJson)).toEqual(
    bundles.map(() => undefined),
  );
});

test('a bundle alone has its ClusterServiceVersion and no edges', async () => {
  const request = { pkgName: 'crafted', channelName: 'stable', csvName: 'crafted.v3' };
  const { messages } = await client.call('api.Registry/GetBundle', request);
  const [bundle] = messages.map((message) => client.json('api.Bundle', message));
  expect(bundle).not.toHaveProperty('replaces');
  const { csvJson } = bundle as { csvJson: string };
  expect(JSON.parse(csvJson)).toMatchObject({
    metadata: { name: 'crafted.v3', annotations: { a: '&2' } },
    spec: {
      displayName: 'Crafted <operator>',
      version: '3.0.0',
      icon: [{ base64data: 'PHN2Zy8+' }],
    },
  });
});

test('what is not there is told with code Unknown', async () => {
  const { failure } = await client.call('api.Registry/GetPackage', { name: '__proto__' });
  expect(failure).toEqual([2, 'package "__proto__" not found']);
  const entries = await client.call('api.Registry/GetChannelEntriesThatReplace', { csvName: 'x' });
  expect(entries.failure).toEqual([2, 'no channel entries found that replace x']);
  expect(errors).toEqual([]);
});

test('custom blobs keep every key', async () => {
  const path = 'api.ExperimentalRegistry/ExperimentalListPackageCustomSchemas';
  const request = { schema: 'acme.note', packageName: 'crafted' };
  const { messages } = await client.call(path, request, { 'x-acknowledge-experimental': 'true' });
  expect(messages).toHaveLength(2);
  expect(messages[1]?.toString('latin1')).toContain('__proto__');
});

test.each([
  ['api.Registry/GetPackage', Buffer.from([0x0a, 0xff])],
  ['api.Registry/ListBundles', Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  ['grpc.reflection.v1.ServerReflection/ServerReflectionInfo', Buffer.from([0x3a, 0x7f])],
])('bytes that are no request of %s end the call, and nothing else', async (path, bytes) => {
  const { failure } = await client.raw(path, [bytes]);
  expect(failure?.[0]).toBeGreaterThan(0);
  expect((await client.call('api.Registry/ListPackages')).messages).toHaveLength(1);
  expect(errors).toEqual([]);
});

test('what replaces the content is served at once', async () => {
  const swapped = new ServedCatalog('swapped', await contentOf(servedCatalog));
  const address = { host: '127.0.0.1', port: 0 };
  const other = new RegistryServer({ catalog: swapped, address, onError: () => undefined });
  using asking = new RegistryClient(await other.listen());
  await swapped.replace(await contentOf(''));
  expect(await asking.call('api.Registry/ListPackages')).toEqual({ messages: [] });
  await other.close();
  await swapped.close();
});

test('a client that reads no answer of reflection gets no more of them', {
  tags: ['slow'],
}, async () => {
  const answer = vi.spyOn(ReflectionStream.prototype, 'answer');
  // The client of the library reads more than it is asked for.
  const session = connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => {
    answer.mockRestore();
    session.destroy();
  });
  const call = session.request({
    ':method': 'POST',
    ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo',
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  const request = protocol.encode('grpc.reflection.v1.ServerReflectionRequest', {
    messageRequest: { case: 'fileContainingSymbol', value: 'api.Registry' },
  });
  const head = Buffer.alloc(5);
  head.writeUInt32BE(request.length, 1);
  const count = 3_000;
  call.end(Buffer.concat(Array.from({ length: count }, () => [head, request]).flat()));
  // Nothing is answered any more while another client is served.
  for (let unchanged = 0, before = -1; unchanged < 20; ) {
    await client.call('api.Registry/ListPackages');
    const now = answer.mock.calls.length;
    unchanged = now === before && now > 0 ? unchanged + 1 : 0;
    before = now;
  }
  expect(answer.mock.calls.length).toBeLessThan(count / 2);
  call.resume();
  await once(call, 'end');
  expect(answer.mock.calls.length).toBe(count);
});

test('a connection has a limited number of calls at a time', async () => {
  const session = connect(`http://127.0.0.1:${port}`);
  onTestFinished(() => session.destroy());
  const [settings] = await once(session, 'remoteSettings');
  expect(settings).toMatchObject({ maxConcurrentStreams: 100 });
});

test('without a host it listens on IPv4 where the machine has no IPv6', async () => {
  const spy = vi.spyOn(Server.prototype, 'listen');
  spy.mockImplementation(function (this: Server, ...args: unknown[]) {
    const [options] = args as [ListenOptions];
    if (options.host !== '::') {
      spy.mockRestore();
      return this.listen(...(args as [ListenOptions, () => void]));
    }
    const error = new Error('listen EAFNOSUPPORT: address family not supported :::0');
    setImmediate(() => this.emit('error', Object.assign(error, { code: 'EAFNOSUPPORT' })));
    return this;
  });
  onTestFinished(() => spy.mockRestore());
  const other = new RegistryServer({ catalog, address: { port: 0 }, onError: () => undefined });
  using asking = new RegistryClient(await other.listen());
  expect((await asking.call('api.Registry/ListPackages')).messages).toHaveLength(1);
  await other.close();
});

test.each([
  ['two descriptions', '{}', 'expected at most 1 property of type "olm.csv.metadata", found 2'],
  ['a description of the wrong type', '', 'cannot unmarshal string into Go value of type'],
])('%s are refused', async (_, more, message) => {
  const metadata = (value: unknown) => ({ type: 'olm.csv.metadata', value });
  const properties = [
    { type: 'olm.package', value: { packageName: 'a', version: '1.0.0' } },
    metadata(more === '' ? 'text' : {}),
    ...(more === '' ? [] : [metadata({})]),
  ];
  const blobs = [
    { schema: 'olm.package', name: 'a', defaultChannel: 's' },
    { schema: 'olm.channel', package: 'a', name: 's', entries: [{ name: 'a.v1' }] },
    { schema: 'olm.bundle', package: 'a', name: 'a.v1', image: 'q.io/a/b:v1', properties },
  ];
  const text = blobs.map((blob) => JSON.stringify(blob)).join('\n');
  await expect(contentOf(text)).rejects.toThrow(message);
});
