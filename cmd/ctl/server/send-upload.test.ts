import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { aTree } from '../../../test/helpers/registry-bundle.ts';
import type { Cluster } from '../cluster.ts';
import { type ContentServer, openContentServer } from './content-server.ts';
import { fnv1a64, packUpload, sendUpload } from './send-upload.ts';

const archive = Buffer.alloc(300_000, 7);
const { signal } = new AbortController();

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

const servers: Server[] = [];
const clients: ContentServer[] = [];

afterEach(() => vi.useRealTimers());

// Closed at the end of the file, because some tests run concurrently.
afterAll(async () => {
  for (const client of clients) await client.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that gives these answers in order, and then repeats the last one. */
async function serverOf(...answers: readonly Answer[]): Promise<ContentServer> {
  let count = 0;
  const server = createServer((request, response) => {
    const answer = answers[Math.min(count, answers.length - 1)];
    count += 1;
    void answer?.(request, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const place = {
    namespace: '',
    service: '',
    caSecretName: '',
    server: `http://127.0.0.1:${port}/prefix/`,
  };
  const client = await openContentServer({} as Cluster, place, { caller: { token: 't' }, signal });
  clients.push(client);
  return client;
}

function status(code: number, text = ''): Answer {
  return async (request, response) => {
    await buffer(request);
    response.writeHead(code).end(text);
  };
}

function send(server: ContentServer, patience = 0): Promise<string> {
  return sendUpload(server, { bundle: 'demo-x', archive, signal, patience });
}

describe('sendUpload', () => {
  it('puts the archive, as the caller', async () => {
    const requests: unknown[] = [];
    const server = await serverOf(async (request, response) => {
      const { method, url, headers } = request;
      requests.push({ method, url, token: headers.authorization, body: await buffer(request) });
      response.writeHead(201).end();
    });
    expect(await send(server)).toBe('uploaded');
    const url = '/prefix/uploads/demo-x.tgz';
    expect(requests).toEqual([{ method: 'PUT', url, token: 'Bearer t', body: archive }]);
  });

  it('says that the server has it already', async () => {
    expect(await send(await serverOf(status(204)))).toBe('up-to-date');
  });

  it.each([
    [401, 'Unauthorized\n', 'the content server does not accept the credentials of the kubeconfig'],
    [403, 'Forbidden (user=a)\n', 'Forbidden (user=a): bind the ClusterRole bundle-uploader to'],
    [409, 'bundle source type is "git"; expected "upload"\n', 'bundle source type is "git"; exp'],
    [413, 'too large\n', 'too large'],
    [418, '', 'HTTP status 418'],
  ])('does not try again after %i', async (code, text, message) => {
    const server = await serverOf(status(code, text), status(201));
    await expect(send(server, 60_000)).rejects.toThrow(message);
  });

  it.concurrent.each([
    ['a Bundle that the server has not seen yet', status(404, 'Bundle not found')],
    ['a server that is away for a moment', status(503)],
    ['a broken connection', (request: IncomingMessage) => void request.socket.destroy()],
  ])('tries again after %s', async (_what, answer) => {
    expect(await send(await serverOf(answer, answer, status(201)), 60_000)).toBe('uploaded');
  });

  it('reports the last failure when its patience ends', async () => {
    await expect(send(await serverOf(status(500, 'disk full\n')))).rejects.toThrow(
      'cannot upload to the content server: HTTP status 500: disk full',
    );
  });

  it('gives up a server that takes nothing for ten seconds', async () => {
    const heard = Promise.withResolvers<void>();
    const server = await serverOf(() => heard.resolve());
    const large = Buffer.alloc(64 * 1024 * 1024);
    const taken = vi.spyOn(large, 'subarray').mock.calls;
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const ended = vi.fn<() => void>();
    const failed = expect(
      sendUpload(server, { bundle: 'demo', archive: large, signal, patience: 0 }).finally(ended),
    ).rejects.toThrow('cannot upload to the content server: nothing was heard of it for 10 s');
    await heard.promise;
    for (let before = 0; taken.length > before; await delay(50)) before = taken.length;
    vi.advanceTimersByTime(9_999);
    await delay(0);
    expect(ended).not.toHaveBeenCalled();
    // More than once when a network buffer accepted another chunk meanwhile.
    for (; ended.mock.calls.length === 0; await delay(1)) vi.advanceTimersByTime(1_000);
    await failed;
  });

  it('ends at once when it is interrupted', async () => {
    const stop = new AbortController();
    const server = await serverOf(() => stop.abort(new Error('received SIGINT')));
    const options = { bundle: 'demo', archive, signal: stop.signal, patience: 60_000 };
    await expect(sendUpload(server, options)).rejects.toThrow('received SIGINT');
  });
});

describe('openContentServer', () => {
  const token = { token: 't' };
  const certificate = { certificate: { cert: 'c', key: 'k' } };

  it.each([
    ['credentials on a network in plain text', 'http://example.com', token, 'in plain text: use'],
    ['a certificate in plain text', 'http://127.0.0.1:8080', certificate, 'cannot be shown to --s'],
  ])('does not send credentials to %s', async (...[_what, server, caller, message]) => {
    const place = { namespace: '', service: '', caSecretName: '', server };
    await expect(openContentServer({} as Cluster, place, { caller, signal })).rejects.toThrow(
      message,
    );
  });
});

describe('packUpload', () => {
  it('gives equal content equal bytes and one digest, and other content another one', async () => {
    const one = await packUpload(aTree({ 'manifests/a.yaml': 'a', 'manifests/b.yaml': 'b' }));
    const same = await packUpload(aTree({ 'manifests/b.yaml': 'b', 'manifests/a.yaml': 'a' }));
    const other = await packUpload(aTree({ 'manifests/a.yaml': 'a', 'manifests/b.yaml': 'c' }));
    expect(one).toEqual(same);
    expect(one.digest).toBe(fnv1a64(one.archive));
    expect(other.digest).not.toBe(one.digest);
    expect(gunzipSync(one.archive).length % 512).toBe(0);
  });
});

describe('fnv1a64', () => {
  it.each([
    ['', 'cbf29ce484222325'],
    ['a', 'af63dc4c8601ec8c'],
    ['foobar', '85944171f73967e8'],
    ['chongo was here!\n', '46810940eff5f915'],
  ])('is that of the reference for %j', (text, hash) => {
    expect(fnv1a64(Buffer.from(text))).toBe(hash);
  });

  it('agrees with the definition for all bytes', () => {
    const bytes = Uint8Array.from({ length: 4096 }, (_, index) => (index * 31) % 256);
    let expected = 0xcbf29ce484222325n;
    for (const byte of bytes) {
      expected = BigInt.asUintN(64, (expected ^ BigInt(byte)) * 0x100000001b3n);
    }
    expect(fnv1a64(bytes)).toBe(expected.toString(16));
  });
});
