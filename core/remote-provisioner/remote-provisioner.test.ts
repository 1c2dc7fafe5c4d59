import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import {
  type AnswerCall,
  answerJson,
  answerWith,
  FakeClassServer,
  jsonIn,
} from '../../test/helpers/class-server.ts';
import { aBundle, aBundleDeployment, aContext, bundleFiles } from '../../testing/index.ts';
import type { Clock } from '../clock.ts';
import { defaultLimits } from '../content/limits.ts';
import { tarParts } from '../content/tar-parts.ts';
import { TerminalError, WaitingError } from '../errors.ts';
import { createRemoteProvisioner, type RemoteProvisioner } from './index.ts';

let server: FakeClassServer;
let provisioner: RemoteProvisioner;
/** What was slept before other tries. */
let sleeps: number[];

const clock: Clock = {
  now: () => Date.now(),
  sleep: async (ms) => void sleeps.push(ms),
};

beforeEach(async () => {
  sleeps = [];
  server = await FakeClassServer.start();
  provisioner = await createRemoteProvisioner({ className: 'acme', url: server.url, clock });
});

afterEach(async () => {
  await provisioner.close();
  await server.stop();
});

const files = bundleFiles({ 'a.txt': 'one', 'b/c.txt': 'two' }, ['empty']);
const bundle = aBundle({ className: 'acme' });
const deployment = aBundleDeployment({ className: 'acme', config: { replicas: 2 } });
const configMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };

async function handleBundle(context = aContext()) {
  return await provisioner.bundle!(files, bundle, context);
}

async function handleDeployment(context = aContext()) {
  return await provisioner.deployment!(files, deployment, context);
}

function answering(path: string, answer: AnswerCall): void {
  server.answers.set(path, answer);
}

/** The first answers in turn; the last one for all that follow. */
function inTurn(...answers: readonly AnswerCall[]): AnswerCall {
  let calls = 0;
  return (response, received) => {
    const answer = answers[Math.min(calls, answers.length - 1)];
    calls += 1;
    return answer?.(response, received);
  };
}

async function thrownBy(work: Promise<unknown>): Promise<Error> {
  return await work.then(
    () => expect.fail('nothing was thrown'),
    (error: Error) => error,
  );
}

describe('a Bundle', () => {
  test('goes as one tar: the object, the context and the content', async () => {
    answering('/v1/bundle', (response) => void response.writeHead(204).end());
    const managedFields = [{ manager: 'kubectl', operation: 'Update', time: 'now' }];
    const metadata = { ...bundle.metadata, managedFields } as Bundle['metadata'];
    expect(await provisioner.bundle!(files, { ...bundle, metadata }, aContext())).toBe(files);
    const [asked, posted] = server.received;
    expect(asked?.call).toBe('GET /v1/class');
    expect(posted?.call).toBe('POST /v1/bundle');
    expect(posted?.headers).toMatchObject({
      'content-type': 'application/x-tar',
      'content-length': expect.stringMatching(/^[0-9]+$/),
    });
    expect(Object.keys(posted?.files ?? {})).toEqual([
      'content/a.txt',
      'content/b/c.txt',
      'context.json',
      'object.json',
    ]);
    expect(posted?.files['content/b/c.txt']).toBe('two');
    expect(jsonIn(posted!, 'object.json')).toEqual(bundle);
    expect(jsonIn(posted!, 'context.json')).toEqual({ limits: defaultLimits });
  });

  test('is what a tar in the answer says', async () => {
    const body = aTar({ path: 'new.txt', content: Buffer.from('three') });
    answering('/v1/bundle', (response) =>
      answerWith(response, { type: 'application/x-tar', body }),
    );
    const stored = await handleBundle();
    expect([...stored.files].map(([path, text]) => [path, Buffer.from(text).toString()])).toEqual([
      ['new.txt', 'three'],
    ]);
  });

  test('whose answer leaves the tree, or passes a limit, is tried again later', async () => {
    const outside = aTar({ path: '../x', content: Buffer.from('x') });
    const large = aTar({ path: 'x', content: Buffer.alloc(2_000) });
    for (const [body, text] of [
      [outside, 'archive has an entry that leaves the bundle: "../x"'],
      [large, 'archive unpacks to more than the limit of 1000 bytes (--max-content-bytes)'],
    ] as const) {
      answering('/v1/bundle', (response) =>
        answerWith(response, { type: 'application/x-tar', body }),
      );
      const limits = { ...defaultLimits, maxBytes: 1_000 };
      const error = await thrownBy(handleBundle(aContext({ limits })));
      expect(error.message).toBe(`class "acme" at ${server.url}: ${text}`);
      expect(error).not.toBeInstanceOf(TerminalError);
    }
  });

  test('with many small files keeps the length that was said', async () => {
    const many = bundleFiles(
      Object.fromEntries(
        Array.from({ length: 5_000 }, (_, index) => [`${'d'.repeat(120)}/${index}`, `${index}`]),
      ),
    );
    answering('/v1/bundle', (response) => void response.writeHead(204).end());
    expect(await provisioner.bundle!(many, bundle, aContext())).toBe(many);
    expect(server.received[1]?.files[`content/${'d'.repeat(120)}/4999`]).toBe('4999');
  });
});

test('connections are kept for what comes next', async () => {
  answering('/v1/bundle', (response) => void response.writeHead(204).end());
  answering('/v1/deployment', (response) => answerJson(response, []));
  for (let round = 0; round < 5; round += 1) {
    await handleBundle();
    await handleDeployment();
  }
  expect(server.received).toHaveLength(11);
  expect(server.connections).toBeLessThanOrEqual(4);
});

describe('a BundleDeployment', () => {
  test.each([
    ['an array', { type: 'application/json', body: JSON.stringify([configMap, configMap]) }, 2],
    [
      'a List',
      { type: 'application/json', body: JSON.stringify({ kind: 'List', items: [configMap] }) },
      1,
    ],
    ['one object', { type: 'application/json; charset=utf-8', body: JSON.stringify(configMap) }, 1],
    ['nothing', { type: 'application/json', body: '[]' }, 0],
    [
      'documents',
      { type: 'application/yaml', body: `---\n${JSON.stringify(configMap)}\n---\n# none\n` },
      1,
    ],
  ])('becomes the objects of %s', async (_, answer, count) => {
    answering('/v1/deployment', (response) => answerWith(response, answer));
    expect(await handleDeployment()).toEqual(Array.from({ length: count }, () => configMap));
  });

  test('keeps every digit of its numbers', async () => {
    const body = '[{"apiVersion":"v1","kind":"A","metadata":{},"n":12345678901234567890}]';
    answering('/v1/deployment', (response) =>
      answerWith(response, { type: 'application/json', body }),
    );
    expect(await handleDeployment()).toMatchObject([{ n: 12345678901234567890n }]);
  });

  test('is given inputs, and of the facts those that the class uses', async () => {
    server.description = { ...server.description, uses: ['seed'] };
    answering('/v1/deployment', (response) => answerJson(response, []));
    const inputs = [Buffer.from([0, 255]), undefined];
    await handleDeployment(aContext({ inputs }));
    expect(provisioner.uses).toEqual(['seed']);
    const { seed } = aContext();
    expect(jsonIn(server.received[1]!, 'context.json')).toEqual({
      limits: defaultLimits,
      inputs: ['AP8=', null],
      seed: Buffer.from(seed!).toString('base64'),
    });
  });

  test('is tried again where the class has just begun to use a fact', async () => {
    server.description = { ...server.description, uses: ['cluster'] };
    const { cluster: _, ...context } = aContext();
    await expect(handleDeployment(context)).rejects.toThrow('uses "cluster" since a moment ago');
  });

  test.each([
    ['text/html', '<html>', 'the answer is "text/html", but must be application/json or'],
    [
      'application/json',
      '[{}]',
      `unable to decode "answer.json": Object 'Kind' is missing in '{}'`,
    ],
    ['application/json', '[{"kind"', 'error parsing answer.json: '],
    ['application/yaml', 'a: b\nc: [', 'error parsing answer.yaml: '],
    ['application/yaml', '---\nkind: A\n'.repeat(4), 'more than 3 objects (--max-content-entries)'],
    ['application/yaml', 'a'.repeat(2_000), 'the answer is larger than the limit of 1000 bytes'],
  ])('whose answer is %s %j says so, and is tried again later', async (type, body, text) => {
    answering('/v1/deployment', (response) => answerWith(response, { type, body }));
    const limits = { ...defaultLimits, maxBytes: 1_000, maxEntries: 3 };
    const error = await thrownBy(handleDeployment(aContext({ limits })));
    expect(error.message).toContain(`class "acme" at ${server.url}: `);
    expect(error.message).toContain(text);
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error).not.toBeInstanceOf(WaitingError);
  });

  test('is not made of an answer that may have been cut', async () => {
    answering('/v1/deployment', (response) => {
      response.socket?.end('HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n[]');
    });
    await expect(handleDeployment()).rejects.toThrow('the answer has no Content-Length');
  });

  test('whose answer breaks off is asked for once more', async () => {
    const broken: AnswerCall = (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 50 });
      response.write('[', () => response.destroy());
    };
    answering(
      '/v1/deployment',
      inTurn(broken, (response) => answerJson(response, [configMap])),
    );
    expect(await handleDeployment()).toEqual([configMap]);
    expect(sleeps).toEqual([200]);
  });
});

describe('inputs', () => {
  const reference = { kind: 'Secret', name: 'db', key: 'password' };

  test('are not asked for where the class has none', async () => {
    expect(await provisioner.inputs!(deployment, aContext())).toEqual([]);
    expect(server.received.map(({ call }) => call)).toEqual(['GET /v1/class']);
  });

  test('are asked for by the object alone', async () => {
    server.description = { ...server.description, handlers: ['inputs', 'deployment'] };
    answering('/v1/inputs', (response) => answerJson(response, [reference]));
    expect(await provisioner.inputs!(deployment, aContext())).toEqual([reference]);
    expect(Object.keys(server.received[1]?.files ?? {})).toEqual(['context.json', 'object.json']);
    expect(jsonIn(server.received[1]!, 'object.json')).toEqual(deployment);
  });

  test('must be an array', async () => {
    server.description = { ...server.description, handlers: ['inputs'] };
    answering('/v1/inputs', (response) => answerJson(response, reference));
    await expect(provisioner.inputs!(deployment, aContext())).rejects.toThrow('is no array');
  });
});

describe('a server that refuses', () => {
  test('by 422 ends the tries, with its message and reason', async () => {
    const message = 'values.json:\u0000\n no\u202e \u001b[31msuch file';
    answering('/v1/bundle', (response) =>
      answerJson(response, { message, reason: 'BadValues' }, 422),
    );
    const error = await thrownBy(handleBundle());
    expect(error).toBeInstanceOf(TerminalError);
    expect(error).toMatchObject({
      message: `class "acme" at ${server.url}: values.json:  no   [31msuch file`,
      reason: 'BadValues',
    });
    expect(server.received).toHaveLength(2);
  });

  test('at length is cut short', async () => {
    answering('/v1/bundle', (response) =>
      answerJson(response, { message: 'x'.repeat(9_000) }, 422),
    );
    const { message } = await thrownBy(handleBundle());
    expect(message).toHaveLength(`class "acme" at ${server.url}: …`.length + 2_000);
  });

  test.each([
    [{ detail: 'not ours' }],
    [{ message: 'ours', reason: 'no reason' }],
    ['x'.repeat(100_000)],
  ])('by a 422 that is not the contract’s is tried again later', async (body) => {
    answering('/v1/bundle', (response) => answerJson(response, body, 422));
    const error = await thrownBy(handleBundle());
    expect(error).not.toBeInstanceOf(TerminalError);
    expect(error.message).toBe(`class "acme" at ${server.url} answered 422 Unprocessable Entity`);
  });

  test('by a redirect is not followed', async () => {
    const elsewhere = await FakeClassServer.start();
    answering('/v1/bundle', (response) => {
      response.writeHead(307, { location: `${elsewhere.url}/v1/bundle` }).end();
    });
    const { message } = await thrownBy(handleBundle());
    expect(message).toContain('answered 307 Temporary Redirect: redirects are not followed');
    expect(elsewhere.received).toEqual([]);
    await elsewhere.stop();
  });

  test.each([401, 403])('our credentials by %i says where they are from', async (status) => {
    answering('/v1/bundle', (response) => void response.writeHead(status).end());
    await expect(handleBundle()).rejects.toThrow('--provisioner-url-credentials');
    expect(sleeps).toEqual([]);
  });
});

describe('a server that fails', () => {
  const failing =
    (status: number, headers: Readonly<Record<string, string>> = {}): AnswerCall =>
    (response) =>
      void response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end('oh no');

  test('by 500 is asked twice more', async () => {
    answering('/v1/bundle', failing(500));
    const error = await thrownBy(handleBundle());
    expect(error.message).toBe(
      `class "acme" at ${server.url} answered 500 Internal Server Error: oh no`,
    );
    expect(error).not.toBeInstanceOf(WaitingError);
    expect(sleeps).toEqual([200, 400]);
  });

  test.each([502, 504])('behind a proxy that says %i is waited for', async (status) => {
    answering('/v1/bundle', failing(status));
    expect(await thrownBy(handleBundle())).toBeInstanceOf(WaitingError);
    expect(sleeps).toEqual([200, 400]);
  });

  test('by 503 is asked again when it says', async () => {
    answering(
      '/v1/bundle',
      inTurn(
        failing(503, { 'retry-after': '3' }),
        failing(429),
        (response) => void response.writeHead(204).end(),
      ),
    );
    expect(await handleBundle()).toBe(files);
    expect(sleeps).toEqual([3_000, 400]);
  });

  test('for long is left to the reconciler', async () => {
    answering('/v1/bundle', failing(503, { 'retry-after': '600' }));
    const error = await thrownBy(handleBundle());
    expect(error).toBeInstanceOf(WaitingError);
    expect(error.message).toBe(
      `class "acme" at ${server.url} answered 503 Service Unavailable: oh no`,
    );
    expect(sleeps).toEqual([]);
  });

  test('to speak HTTP is told of', async () => {
    answering('/v1/bundle', (response) => void response.socket?.end('SSH-2.0-OpenSSH\r\n'));
    await expect(handleBundle()).rejects.toThrow(`class "acme" at ${server.url}: `);
  });

  test('to bound its headers is given up on', async () => {
    const headers = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`x-${index}`, 'y'.repeat(1_000)]),
    );
    answering('/v1/bundle', (response) => void response.writeHead(204, headers).end());
    await expect(handleBundle()).rejects.toThrow(/class "acme" at .*: .*Header/i);
  });
});

describe('a server that is not there', () => {
  test('is waited for, and found when it comes', async () => {
    const { port } = server;
    await server.stop();
    const error = await thrownBy(handleBundle());
    expect(error).toBeInstanceOf(WaitingError);
    expect(error.message).toBe(
      `class "acme" at http://127.0.0.1:${port}: dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
    expect(sleeps).toEqual([200, 400]);
    server = await FakeClassServer.start({}, port);
    answering('/v1/bundle', (response) => void response.writeHead(204).end());
    expect(await handleBundle()).toBe(files);
  });

  test('while it is asked is asked again when it is', async () => {
    answering(
      '/v1/bundle',
      inTurn(
        (response) => void response.socket?.destroy(),
        (response) => void response.writeHead(204).end(),
      ),
    );
    expect(await handleBundle()).toBe(files);
  });
});

describe('a server that is slow', () => {
  test('is given as long as the limit says', async () => {
    answering('/v1/bundle', () => undefined);
    const limits = { ...defaultLimits, timeout: 300 };
    await expect(handleBundle(aContext({ limits }))).rejects.toThrow(
      `class "acme" at ${server.url} took longer than the limit of 0.3 s (--content-timeout)`,
    );
  });

  test('in the middle of its answer, too', async () => {
    answering('/v1/deployment', (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 50 });
      response.write('[');
    });
    const limits = { ...defaultLimits, timeout: 300 };
    await expect(handleDeployment(aContext({ limits }))).rejects.toThrow('took longer than');
  });

  test('is left when nobody waits any more', async () => {
    let closed = false;
    answering('/v1/bundle', (response) => void response.on('close', () => (closed = true)));
    const stop = new AbortController();
    const work = handleBundle(aContext({ signal: stop.signal }));
    await expect.poll(() => server.received.length, { timeout: 20_000 }).toBe(2);
    stop.abort(new Error('the Bundle is being deleted'));
    await expect(work).rejects.toThrow(new Error('the Bundle is being deleted'));
    await expect.poll(() => closed, { timeout: 20_000 }).toBe(true);
  });

  test('has four requests of ours at once', async () => {
    const waiting: ServerResponse[] = [];
    let most = 0;
    answering('/v1/bundle', (response) => {
      waiting.push(response);
      most = Math.max(most, waiting.length);
    });
    const all = Promise.all(Array.from({ length: 9 }, () => handleBundle()));
    for (let answered = 0; answered < 9; ) {
      await delay(20);
      // No more come for as long as nobody is answered.
      if (waiting.length < Math.min(4, 9 - answered)) continue;
      answered += waiting.length;
      for (const response of waiting.splice(0)) response.writeHead(204).end();
    }
    await all;
    expect(most).toBe(4);
  });
});

describe('what a server says of itself', () => {
  test.each([
    [{ className: 'other' }, 'it serves class "other": correct --provisioner-url'],
    [
      { contractVersion: 2 },
      'it serves version 2 of the contract, and this manager knows version 1',
    ],
    [
      { handlers: ['apply'] },
      'the answer to GET v1/class is no description of a class: handlers.0',
    ],
    [{ handlers: ['deployment'] }, 'serves no Bundles: its handlers are [deployment]'],
  ])('as %j fails the object', async (description, text) => {
    server.description = { ...server.description, ...description };
    await expect(handleBundle()).rejects.toThrow(`class "acme" at ${server.url}`);
    await expect(handleBundle()).rejects.toThrow(text);
  });

  test('is asked once a minute', async () => {
    let now = 0;
    const turned = { ...clock, now: () => now };
    const other = await createRemoteProvisioner({
      className: 'acme',
      url: `${server.url}/`,
      clock: turned,
    });
    answering('/v1/bundle', (response) => void response.writeHead(204).end());
    for (const time of [0, 59_000, 61_000]) {
      now = time;
      await other.bundle!(files, bundle, aContext());
    }
    const asked = server.received.filter(({ call }) => call === 'GET /v1/class');
    expect(asked).toHaveLength(2);
    await other.close();
  });
});

describe('an address', () => {
  test.each([
    ['ftp://a', 'the URL must begin with https:// or http://'],
    ['here', 'the URL must begin with https:// or http://'],
    ['https://me:secret@a', 'the URL must not hold credentials'],
    ['https://a/?b=c', 'the URL must not have a "?" or "#"'],
    [
      'http://acme.acme.svc',
      'http:// is for servers on this machine, such as a sidecar: use https:// for acme.acme.svc, or allow it with --provisioner-url-plain-http=acme',
    ],
  ])('%s is refused', async (url, text) => {
    const error = await thrownBy(createRemoteProvisioner({ className: 'acme', url }));
    expect(error.message).toContain(`--provisioner-url for class "acme": ${text}`);
    expect(error.message).not.toContain('secret');
  });

  test('is refused for a class that nobody could name', async () => {
    const creating = createRemoteProvisioner({ className: 'Acme', url: 'https://a' });
    await expect(creating).rejects.toThrow('class "Acme": a class name has lower-case letters');
  });

  test.each([
    ['http://localhost:1', false],
    ['http://[::1]:1', false],
    ['http://acme.acme.svc', true],
  ])('%s is taken (plain HTTP allowed: %s)', async (url, plainHttp) => {
    const made = await createRemoteProvisioner({ className: 'acme', url, plainHttp });
    expect(made.className).toBe('acme');
    await made.close();
  });

  test('may have a path', async () => {
    const base = `${server.url}/classes/acme`;
    answering('/classes/acme/v1/class', (response) => answerJson(response, server.description));
    answering('/classes/acme/v1/bundle', (response) => void response.writeHead(204).end());
    const made = await createRemoteProvisioner({ className: 'acme', url: base });
    expect(await made.bundle!(files, bundle, aContext())).toBe(files);
    await made.close();
  });
});

function aTar(...entries: readonly { readonly path: string; readonly content: Buffer }[]): Buffer {
  return Buffer.concat([...tarParts(entries)]);
}
