import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { generate } from 'selfsigned';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { BundleFilesBuilder, defaultLimits, packBundle } from '../content/index.ts';
import { TerminalError, WaitingError } from '../errors.ts';
import { stamped } from './archive.ts';
import { DiskStore } from './disk-store.ts';
import { createFallbackLoader, type FallbackLoaderOptions } from './fallback-loader.ts';

const builder = new BundleFilesBuilder(defaultLimits);
builder.addFile('manifests/a.yaml', Buffer.from('a'));
const files = builder.build();

let servers: Server[];
let seen: { url: string | undefined; authorization: string | undefined }[];

beforeEach(() => {
  servers = [];
  seen = [];
});

afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(
  answer: RequestListener,
  tls?: { key: string; cert: string },
): Promise<string> {
  const listener: RequestListener = (request, response) => {
    seen.push({ url: request.url, authorization: request.headers.authorization });
    answer(request, response);
  };
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const scheme = tls === undefined ? 'http' : 'https';
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function archiveOf(uid?: string): RequestListener {
  return (_request, response) => {
    const archive = packBundle(files);
    void pipeline(uid === undefined ? archive : stamped(archive, { uid }), response);
  };
}

function loader(contentServer: string, options: Partial<FallbackLoaderOptions> = {}) {
  return createFallbackLoader({
    store: { load: async () => undefined },
    contentServers: [contentServer],
    token: async () => 'own-token',
    limits: defaultLimits,
    ...options,
  });
}

const bundle = { name: 'b', uid: '1' };
const { signal } = new AbortController();

describe('the fallback loader', () => {
  it('waits for a server that does not end its answer, and says for how long it did', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const asked = Promise.withResolvers<void>();
    const server = await serve((_, response) => {
      response.write('begin');
      asked.resolve();
    });
    const contentURL = `${server}/bundles/b.tgz`;
    const loading = loader(server).load({ ...bundle, contentURL }, signal);
    const failed = loading.catch((error: unknown) => error);
    await asked.promise;
    vi.advanceTimersByTime(60_000);
    const error = await failed;
    expect(error).toBeInstanceOf(WaitingError);
    expect(String(error)).toContain('the content server has not sent all of it within 60 s');
  });

  it('asks no server for content in its own store', async () => {
    const server = await serve(archiveOf());
    const local = loader(server, { store: { load: async () => files } });
    expect(await local.load({ ...bundle, contentURL: `${server}/bundles/b.tgz` }, signal)).toBe(
      files,
    );
    expect(seen).toEqual([]);
  });

  it.each([undefined, '1'])('reads the rest from the content server, stamp %s', async (uid) => {
    const server = await serve(archiveOf(uid));
    const contentURL = `${server}/bundles/b.tgz`;
    const loaded = await loader(server).load({ ...bundle, contentURL }, signal);
    expect([...loaded.files.keys()]).toEqual(['manifests/a.yaml']);
    expect(seen).toEqual([{ url: '/bundles/b.tgz', authorization: 'Bearer own-token' }]);
  });

  it('refuses content of an earlier Bundle of the name', async () => {
    const server = await serve(archiveOf('0'));
    const refused = loader(server).load(
      { ...bundle, contentURL: `${server}/bundles/b.tgz` },
      signal,
    );
    await expect(refused).rejects.toThrow('still has the content of an earlier bundle "b"');
  });

  it('refuses earlier content of the Bundle, which has another pin', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'fallback-loader-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const store = new DiskStore({ directory, externalAddress: '', limits: defaultLimits });
    await store.put({ ...bundle, pin: 'sha256:earlier' }, files);
    const archive = await readFile(join(directory, 'b.tgz'));
    const server = await serve((_, response) => response.end(archive));
    const contentURL = `${server}/bundles/b.tgz`;
    const load = async (pin: string) =>
      await loader(server).load({ ...bundle, pin, contentURL }, signal);
    expect((await load('sha256:earlier')).files.size).toBe(1);
    await expect(load('sha256:later')).rejects.toThrow(
      'the content server still has earlier content of bundle "b"',
    );
  });

  it('reports an invalid answer', async () => {
    const server = await serve((_request, response) => response.writeHead(404).end('gone'));
    const refused = loader(server).load(
      { ...bundle, contentURL: `${server}/bundles/b.tgz` },
      signal,
    );
    await expect(refused).rejects.toThrow(new Error('unexpected response status "404 Not Found"'));
  });

  it.each([429, 503])('waits for a server that answers %i', async (status) => {
    const server = await serve((_request, response) => response.writeHead(status).end());
    const refused = loader(server).load(
      { ...bundle, contentURL: `${server}/bundles/b.tgz` },
      signal,
    );
    await expect(refused).rejects.toBeInstanceOf(WaitingError);
  });

  it('shows its token to configured servers alone', async () => {
    const trusted = await serve((_request, response) => response.end());
    const stranger = await serve(archiveOf());
    for (const contentURL of [
      `${stranger}/bundles/b.tgz`,
      stranger.replace('http://', `${trusted}@`),
      `http://${new URL(trusted).host}@${new URL(stranger).host}/bundles/b.tgz`,
      trusted.replace('http', 'https'),
      'file:///etc/passwd',
      'no url',
    ]) {
      const refused = loader(trusted).load({ ...bundle, contentURL }, signal);
      await expect(refused).rejects.toThrow(TerminalError);
      await expect(refused).rejects.toThrow('is on none of the configured content servers');
    }
    expect(seen).toEqual([]);
  });

  it.each([
    '/uploads/b.tgz',
    '/uploads/other.tgz',
    '/bundles/other.tgz',
    '/bundles/../uploads/b.tgz',
    '/bundles/%2e%2e/uploads/b.tgz',
    '/gateway/bundles/b.tgz',
    '/bundles/b.tgz/',
    '/',
  ])('reads the archive of the Bundle itself alone, not %s', async (path) => {
    const server = await serve(archiveOf(bundle.uid));
    const refused = loader(server).load({ ...bundle, contentURL: server + path }, signal);
    await expect(refused).rejects.toThrow(TerminalError);
    await expect(refused).rejects.toThrow(
      `of bundle "b" is not the URL of its archive: expected ${server}/bundles/b.tgz`,
    );
    expect(seen).toEqual([]);
  });

  it('takes a content server below a path, and no query from a status', async () => {
    const server = `${await serve(archiveOf())}/gateway`;
    const contentURL = `${server}/bundles/b.tgz?dryRun=x#y`;
    await loader(`${server}/`).load({ ...bundle, contentURL }, signal);
    expect(seen).toMatchObject([{ url: '/gateway/bundles/b.tgz' }]);
  });

  it('does not follow a redirect', async () => {
    const stranger = await serve(archiveOf());
    const server = await serve((_request, response) => {
      response.writeHead(302, { location: stranger }).end();
    });
    const refused = loader(server).load(
      { ...bundle, contentURL: `${server}/bundles/b.tgz` },
      signal,
    );
    await expect(refused).rejects.toThrow('unexpected response status "302 Found"');
    expect(seen).toHaveLength(1);
  });

  it('says where a Bundle has no content yet', async () => {
    const refused = loader('http://localhost').load({ ...bundle, contentURL: undefined }, signal);
    await expect(refused).rejects.toThrow(
      'bundle "b" has no content: status.contentURL is not set',
    );
  });

  it('reports a body that is not an archive', async () => {
    const server = await serve((_request, response) => response.end('<html>a login page</html>'));
    const refused = loader(server).load(
      { ...bundle, contentURL: `${server}/bundles/b.tgz` },
      signal,
    );
    await expect(refused).rejects.toThrow('gzip: invalid header');
    await expect(refused).rejects.not.toBeInstanceOf(TerminalError);
  });

  it('stops when aborted', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const server = await serve(() => controller.abort(reason));
    const contentURL = `${server}/bundles/b.tgz`;
    const aborted = loader(server).load({ ...bundle, contentURL }, controller.signal);
    await expect(aborted).rejects.toBe(reason);
  });

  it('trusts the CA of the file, and no stranger', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'fallback-loader-'));
    const pems = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      keySize: 2048,
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
      ],
    });
    const caFile = join(directory, 'ca.crt');
    await writeFile(caFile, pems.cert);
    const server = await serve(archiveOf(), { key: pems.private, cert: pems.cert });
    const stored = { ...bundle, contentURL: `${server}/bundles/b.tgz` };
    await expect(loader(server).load(stored, signal)).rejects.toThrow();
    expect(seen).toEqual([]);
    const loaded = await loader(server, { caFile }).load(stored, signal);
    expect(loaded.files.size).toBe(1);
    await rm(directory, { recursive: true });
  });
});
