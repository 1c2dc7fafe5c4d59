import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { MemoryStore } from '../../../test/helpers/memory-store.ts';
import { aTree } from '../../../test/helpers/registry-bundle.ts';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import { type ContentLoader, LostContentError } from '../../bundle-deployment/index.ts';
import { defaultLimits } from '../../content/index.ts';
import { TerminalError, WaitingError } from '../../errors.ts';
import { createContentLoader } from './content-loader.ts';

const { signal } = new AbortController();
const files = aTree({ 'manifests/a.yaml': 'a' });

let store: MemoryStore;
let lost: string[];
let loader: ContentLoader;

beforeEach(() => {
  store = new MemoryStore();
  lost = [];
  loader = createContentLoader(
    {
      stores: [store],
      ownClasses: new Map([['plain', { className: 'plain', bundle: async (files) => files }]]),
      onLost: (name) => lost.push(name),
    },
    {
      limits: defaultLimits,
      content: { contentServers: ['https://content.example'], caFile: undefined },
    },
  );
});

describe('content of a class of this process', () => {
  test('comes from the store', async () => {
    await store.put({ name: 'demo', uid: 'uid-of-demo' }, files);
    expect(await loader.load(aStoredBundle(), signal)).toBe(files);
    expect(lost).toEqual([]);
  });

  test('that is lost is fetched again, and asked of nobody else', async () => {
    await store.put({ name: 'demo', uid: 'of-a-namesake' }, files);
    const status = { contentURL: 'https://content.example/bundles/demo.tgz' };
    await expect(loader.load(aStoredBundle({ status }), signal)).rejects.toThrow(
      new WaitingError('the content of Bundle "demo" is lost and being fetched again'),
    );
    expect(lost).toEqual(['demo']);
  });
});

describe('content of a class of another process', () => {
  test('comes from the store, otherwise from its content server', async () => {
    const bundle = aStoredBundle({ className: 'acme' });
    await expect(loader.load(bundle, signal)).rejects.toThrow('status.contentURL is not set');
    await store.put({ name: 'demo', uid: 'uid-of-demo' }, files);
    expect(await loader.load(bundle, signal)).toBe(files);
    expect(lost).toEqual([]);
  });

  test('is asked of configured servers only: they get our token', async () => {
    const status = { contentURL: 'https://evil.example/bundles/demo.tgz' };
    const bundle = aStoredBundle({ className: 'acme', status });
    await expect(loader.load(bundle, signal)).rejects.toBeInstanceOf(TerminalError);
  });
});

test('content of a server that is away for a while, or that restores it, is on its way back', async () => {
  let answered = 503;
  const server = createServer((_request, response) => response.writeHead(answered).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const tokenFile = join(await mkdtemp(join(tmpdir(), 'rukpak-content-')), 'token');
  onTestFinished(() => rm(dirname(tokenFile), { recursive: true }));
  await writeFile(tokenFile, 'token');
  const content = { contentServers: [origin], tokenFile };
  const applying = createContentLoader(
    { stores: [], ownClasses: new Map(), onLost: (name) => lost.push(name) },
    { limits: defaultLimits, content },
  );
  const bundle = aStoredBundle({ status: { contentURL: `${origin}/bundles/demo.tgz` } });
  await expect(applying.load(bundle, signal)).rejects.toBeInstanceOf(LostContentError);
  answered = 403;
  const refused = await applying.load(bundle, signal).catch((error: unknown) => error);
  expect(refused).toMatchObject({ message: 'unexpected response status "403 Forbidden"' });
  expect(refused).not.toBeInstanceOf(WaitingError);
  server.close();
  server.closeAllConnections();
  await expect(applying.load(bundle, signal)).rejects.toThrow(
    'the content of Bundle "demo" is not served at the moment: ',
  );
  expect(lost).toEqual([]);
});
