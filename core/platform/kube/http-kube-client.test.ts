import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { collect } from '../../../test/helpers/collect.ts';
import { type Clock, systemClock } from '../clock.ts';
import { ApiError } from './api-error.ts';
import { CredentialSource } from './config/credentials.ts';
import { HttpKubeClient } from './http-kube-client.ts';
import { Transport } from './transport.ts';

const widgets = {
  group: 'example.com',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};
const key = { namespace: 'a', name: 'b' };
const widget = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: key };
const path = '/prefix/apis/example.com/v1/namespaces/a/widgets';

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** One header each: joined they would be one group. */
  readonly groups: readonly string[] | undefined;
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

let server: Server;
let transport: Transport;
let client: HttpKubeClient;
let seen: Seen[] = [];
let answers: Answer[] = [];
let slept: number[] = [];

const instantClock: Clock = {
  ...systemClock,
  sleep: async (ms) => {
    slept.push(ms);
  },
};

beforeEach(async () => {
  seen = [];
  answers = [];
  slept = [];
  server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/prefix/`;
  const credentials = new CredentialSource({
    cluster: { name: 'c', server: url, skipTLSVerify: true },
    user: { name: 'u', token: 'secret\n' },
    files: [],
  });
  transport = new Transport({ server: url, userAgent: 'test/1', credentials, clock: instantClock });
  client = new HttpKubeClient(transport);
});

afterEach(async () => {
  await transport.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method, url, headers } = request;
  const groups = request.headersDistinct['impersonate-group'];
  seen.push({ method, url, headers, groups, body: Buffer.concat(chunks).toString() });
  const answer = answers.shift() ?? json(200, widget);
  answer(response, request);
}

function json(status: number, value: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof value === 'string' ? value : JSON.stringify(value));
  };
}

describe('requests', () => {
  test('carry credentials, user agent and the path prefix of the server', async () => {
    await client.get(widgets, key);
    expect(seen[0]).toMatchObject({ method: 'GET', url: `${path}/b` });
    expect(seen[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'user-agent': 'test/1',
      accept: 'application/json',
    });
  });

  test('have the content type of their patch', async () => {
    const target = { resource: widgets, key };
    await client.patch(target, { spec: {} }, { type: 'merge' });
    await client.patch(target, [], { type: 'json', subresource: 'status' });
    await client.apply(widgets, widget, { fieldManager: 'me', force: true, dryRun: true });
    expect(seen.map(({ url }) => url)).toEqual([
      `${path}/b`,
      `${path}/b/status`,
      `${path}/b?fieldManager=me&force=true&dryRun=All`,
    ]);
    expect(seen.map(({ headers }) => headers['content-type'])).toEqual([
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/apply-patch+yaml',
    ]);
  });

  test('delete with preconditions', async () => {
    await client.delete(widgets, key, { uid: 'u', propagationPolicy: 'Background' });
    expect(seen[0]?.method).toBe('DELETE');
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      preconditions: { uid: 'u' },
    });
  });

  test('keep integers exact in both directions', async () => {
    answers.push(json(200, '{"apiVersion":"v1","kind":"W","metadata":{},"n":9007199254740993}'));
    const answer = await client.create(widgets, { ...widget, n: 9007199254740995n });
    expect(seen[0]?.body).toContain('"n":9007199254740995');
    expect(answer['n']).toBe(9007199254740993n);
  });

  test('give the items of a list their kind, and read no items as none', async () => {
    answers.push(json(200, { metadata: { resourceVersion: '5' }, items: [{ metadata: key }] }));
    answers.push(json(200, { metadata: { resourceVersion: '5' }, items: null }));
    const { items } = await client.list(widgets, { limit: 2, labelSelector: 'a=b' });
    expect(items).toEqual([widget]);
    expect(seen[0]?.url).toBe('/prefix/apis/example.com/v1/widgets?limit=2&labelSelector=a%3Db');
    expect((await client.list(widgets)).items).toEqual([]);
  });

  test('undo gzip', async () => {
    answers.push((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify(widget)));
    });
    expect(await client.get(widgets, key)).toEqual(widget);
  });

  test('pass plain text through', async () => {
    answers.push((response) => void response.writeHead(200).end('ok'));
    expect(await client.request({ method: 'GET', path: '/readyz' })).toBe('ok');
  });
});

describe('as a ServiceAccount', () => {
  const account = { namespace: 'team-a', name: 'deployer' };
  const identity = {
    authorization: 'Bearer secret',
    'impersonate-user': 'system:serviceaccount:team-a:deployer',
  };
  test('reads, writes and watches say so, and what we send ourselves does not', async () => {
    const impersonated = client.impersonate(account);
    await impersonated.get(widgets, key);
    await impersonated.apply(widgets, widget, { fieldManager: 'me' });
    await impersonated.request({ method: 'POST', path: '/x', body: {} });
    const { signal } = new AbortController();
    answers.push((response) => void response.writeHead(200).end());
    await collect(
      impersonated.watch(widgets, { resourceVersion: '7', timeoutSeconds: 300, signal }),
    );
    expect(seen).toHaveLength(4);
    for (const { headers, groups: sent } of seen) {
      expect(headers).toMatchObject(identity);
      // The API server knows them, and naming them takes rights.
      expect(sent).toBeUndefined();
    }
    await client.get(widgets, key);
    expect(seen[4]?.headers).not.toHaveProperty('impersonate-user');
    expect(seen[4]?.groups).toBeUndefined();
  });
});

describe('refusals', () => {
  test('carry the Status of the server', async () => {
    const status = { kind: 'Status', message: 'no such widget', reason: 'NotFound', code: 404 };
    answers.push(json(404, status));
    const error = await client.get(widgets, key).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 404, message: 'no such widget', status });
  });

  test('of something else on the way are cut to one line', async () => {
    answers.push(json(502, `<html>\n bad gateway ${'x'.repeat(1000)}`));
    const error = (await client.get(widgets, key).catch((caught: unknown) => caught)) as ApiError;
    expect(error.code).toBe(502);
    expect(error.message).toMatch(
      /^the server answered with HTTP status 502: <html> bad gateway x+$/,
    );
    expect(error.message.length).toBeLessThan(300);
  });
});

describe('a busy server', () => {
  test('is asked again after the time it names', async () => {
    answers.push(json(429, {}, { 'retry-after': '2' }), json(503, {}, { 'retry-after': '9999' }));
    expect(await client.create(widgets, widget)).toEqual(widget);
    expect(slept).toEqual([2000, 10_000]);
    expect(seen).toHaveLength(3);
  });

  test('is not asked forever', async () => {
    answers.push(...Array.from({ length: 20 }, () => json(429, {}, { 'retry-after': 'soon' })));
    await expect(client.get(widgets, key)).rejects.toMatchObject({ code: 429 });
    expect(seen).toHaveLength(6);
  });

  test('is not asked again after an error that names no time', async () => {
    answers.push(json(500, {}));
    await expect(client.create(widgets, widget)).rejects.toMatchObject({ code: 500 });
    expect(seen).toHaveLength(1);
  });
});

describe('a bad connection', () => {
  const request = { method: 'GET', path: '/x' } as const;

  test('is reported with the server and the cause', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(client.get(widgets, key)).rejects.toThrow(
      /^cannot reach the API server http:\/\/127\.0\.0\.1:\d+: connect ECONNREFUSED/,
    );
    server.listen(0);
  });

  test('that gives no answer ends in a clear error, body included', async () => {
    answers.push(() => undefined);
    await expect(transport.send(request, 50)).rejects.toThrow(
      /^GET http:\/\/127\.0\.0\.1:\d+\/prefix\/x: no answer within 0\.05 s$/,
    );
    answers.push((response) => response.writeHead(200).write('{'));
    await expect(transport.send(request, 50)).rejects.toThrow('no answer within 0.05 s');
  });

  test('that breaks is tried once more for reading, never for writing', async () => {
    const cut: Answer = (_, { socket }) => socket.destroy();
    answers.push(cut);
    expect(await client.get(widgets, key)).toEqual(widget);
    answers.push(cut);
    await expect(client.create(widgets, widget)).rejects.toThrow('cannot reach the API server');
    expect(seen).toHaveLength(3);
  });

  test('rejects with the reason of an abort, before and during the request', async () => {
    const reason = new Error('enough');
    await expect(client.get(widgets, key, AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(seen).toHaveLength(0);
    const abort = new AbortController();
    answers.push(() => abort.abort(reason));
    await expect(client.get(widgets, key, abort.signal)).rejects.toBe(reason);
  });

  test('that is not free yet delays no abort and no deadline', async () => {
    const held: ServerResponse[] = [];
    answers.push(
      ...Array.from({ length: 80 }, () => (response: ServerResponse) => {
        held.push(response);
      }),
    );
    const writes = Array.from({ length: 80 }, async () => await client.create(widgets, widget));
    while (held.length < 80) await setImmediate();
    const reason = new Error('enough');
    const abort = new AbortController();
    const waiting = client.get(widgets, key, abort.signal);
    abort.abort(reason);
    await expect(waiting).rejects.toBe(reason);
    await expect(transport.send(request, 50)).rejects.toThrow('no answer within 0.05 s');
    for (const response of held) json(200, widget)(response, response.req);
    await Promise.all(writes);
    expect(seen).toHaveLength(80);
  });

  test('is left for others by one creator, however many of its requests hang', async () => {
    const held: ServerResponse[] = [];
    answers.push(
      ...Array.from({ length: 48 }, () => (response: ServerResponse) => {
        held.push(response);
      }),
    );
    const [ann, ben] = ['ann', 'ben'].map((creator) => client.ofCreator(creator));
    const account = { namespace: 'team', name: 'deployer' };
    const writes = Array.from({ length: 100 }, async () => {
      await ann?.impersonate(account).create(widgets, widget);
    });
    while (held.length < 48) await setImmediate();
    // More would be answered at once.
    expect(await ben?.create(widgets, widget)).toEqual(widget);
    expect(await client.create(widgets, widget)).toEqual(widget);
    expect(seen).toHaveLength(50);
    for (const response of held) json(200, widget)(response, response.req);
    await Promise.all(writes);
    expect(seen).toHaveLength(102);
  });

  test('is left for core itself by all creators together', async () => {
    const held: ServerResponse[] = [];
    answers.push(
      ...Array.from({ length: 64 }, () => (response: ServerResponse) => {
        held.push(response);
      }),
    );
    const writes = Array.from({ length: 100 }, async (_, index) => {
      await client.ofCreator(`creator ${index}`).create(widgets, widget);
    });
    while (held.length < 64) await setImmediate();
    expect(await client.create(widgets, widget)).toEqual(widget);
    for (const response of held) json(200, widget)(response, response.req);
    await Promise.all(writes);
  });

  test('is not opened any more after close', async () => {
    await transport.close();
    await expect(client.get(widgets, key)).rejects.toThrow('is closed');
  });
});

describe('a new identity', () => {
  test('gets connections of its own, and requests under way keep theirs', async () => {
    const { port } = server.address() as AddressInfo;
    const sockets = new Set<number | undefined>();
    server.on('request', ({ socket }) => sockets.add(socket.remotePort));
    let key = 'old';
    const credentials = { current: async () => ({ headers: {}, tls: { key } }) };
    const rotating = new Transport({
      server: `http://127.0.0.1:${port}`,
      userAgent: 'test/1',
      credentials,
      clock: instantClock,
    });
    const request = { method: 'GET', path: '/x' } as const;
    await rotating.send(request, 120_000);
    let finish: () => void = () => undefined;
    answers.push((response) => {
      finish = () => response.end();
    });
    const slow = rotating.send(request, 120_000);
    while (seen.length < 2) await systemClock.sleep(5);
    const old = sockets.size;
    key = 'new';
    await rotating.send(request, 120_000);
    expect(sockets.size).toBe(old + 1);
    finish();
    expect(await slow).toMatchObject({ status: 200 });
    await rotating.close();
  });
});

describe('watch', () => {
  const options = { resourceVersion: '7', timeoutSeconds: 300 };

  async function watch(signal: AbortSignal = new AbortController().signal) {
    return await collect(client.watch(widgets, { ...options, signal }));
  }

  test('yields events line by line until the server ends it', async () => {
    answers.push((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"type":"ADDED","object":{"n":9007199254740993}}\n{"type":"BOOK');
      response.end('MARK","object":{}}\n{"type":"cut o');
    });
    expect(await watch()).toEqual([
      { type: 'ADDED', object: { n: 9007199254740993n } },
      { type: 'BOOKMARK', object: {} },
    ]);
    expect(seen[0]?.url).toBe(
      '/prefix/apis/example.com/v1/widgets?resourceVersion=7&watch=true&allowWatchBookmarks=true&timeoutSeconds=300',
    );
  });

  test('says when the server has accepted it, before any event', async () => {
    const abort = new AbortController();
    const { signal } = abort;
    answers.push(json(403, { kind: 'Status', reason: 'Forbidden', message: 'no' }));
    const onOpen = vi.fn<() => void>(() => abort.abort(new Error('it is open')));
    const opened = collect(client.watch(widgets, { ...options, onOpen, signal }));
    await expect(opened).rejects.toThrow('no');
    expect(onOpen).not.toHaveBeenCalled();
    answers.push((response) => response.writeHead(200).flushHeaders());
    const silent = collect(client.watch(widgets, { ...options, onOpen, signal }));
    await expect(silent).rejects.toThrow('it is open');
    expect(onOpen).toHaveBeenCalledOnce();
    expect(seen.map(({ url }) => url)).toEqual(
      Array.from({ length: 2 }, () => expect.not.stringContaining('onOpen') as string),
    );
  });

  test('throws the refusal of the server', async () => {
    answers.push(json(410, { kind: 'Status', reason: 'Expired', message: 'too old' }));
    await expect(watch()).rejects.toMatchObject({ code: 410, message: 'too old' });
  });

  test('throws where the connection breaks or a line is no JSON', async () => {
    answers.push((response, { socket }) => {
      response.writeHead(200).write('{"type":"ADDED","object":{}}\n', () => socket.destroy());
    });
    await expect(watch()).rejects.toThrow('the watch of widgets broke: other side closed');
    answers.push((response) => void response.writeHead(200).end('<html>\n'));
    await expect(watch()).rejects.toThrow(/^the watch of widgets broke: .*JSON/);
  });

  test('ends with the reason of an abort', async () => {
    const reason = new Error('enough');
    const abort = new AbortController();
    answers.push((response) => {
      response.writeHead(200).write('{"type":"ADDED","object":{}}\n', () => abort.abort(reason));
    });
    await expect(watch(abort.signal)).rejects.toBe(reason);
  });

  test('never keeps other requests waiting', async () => {
    const abort = new AbortController();
    const open: Answer = (response) => response.writeHead(200).write('\n');
    answers.push(...Array.from({ length: 80 }, () => open));
    const watches = Array.from({ length: 80 }, async () => await watch(abort.signal));
    const ended = Promise.allSettled(watches);
    while (seen.length < 80) await systemClock.sleep(10);
    expect(await client.get(widgets, key)).toEqual(widget);
    abort.abort();
    await ended;
  });
});
