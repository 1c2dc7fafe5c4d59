import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { type CertificateState, renewCertificates } from '../core/platform/certificates/renewal.ts';
import { type Clock, systemClock } from '../core/platform/clock.ts';
import { eventually } from '../test/helpers/eventually.ts';
import { ManualClock } from '../test/helpers/manual-clock.ts';
import { silentLogger } from '../test/helpers/silent-logger.ts';
import { type AdmissionValidator, allowed, denied } from './review.ts';
import type { RequestObserver } from './review-handler.ts';
import { startWebhookServer, type WebhookServer } from './server.ts';

let first: CertificateState;
let second: CertificateState;

beforeAll(async () => {
  first = await renewCertificates(undefined, ['127.0.0.1'], Date.now());
  second = await renewCertificates(undefined, ['127.0.0.1'], Date.now());
});

async function start(
  validator: AdmissionValidator = () => allowed,
  observer?: RequestObserver,
  clock: Clock = systemClock,
): Promise<WebhookServer> {
  const server = await startWebhookServer({
    host: '127.0.0.1',
    port: 0,
    certificates: first.serving,
    routes: new Map([['/validate', validator]]),
    clock,
    logger: silentLogger,
    ...(observer && { observer }),
  });
  onTestFinished(() => server.close(0));
  return server;
}

interface Answer {
  readonly code: number;
  readonly body: string;
}

interface Call {
  readonly body?: string | Buffer;
  readonly path?: string;
  readonly method?: string;
  readonly ca?: string;
}

async function call(
  { port }: WebhookServer,
  {
    body = aReview(),
    path = '/validate?timeout=10s',
    method = 'POST',
    ca = first.caBundle,
  }: Call = {},
): Promise<Answer> {
  const request = httpsRequest({ host: '127.0.0.1', port, path, method, ca, agent: false });
  // One that is answered early cannot send the rest of its body.
  request.on('error', () => undefined);
  request.end(body);
  const [response] = await once(request, 'response');
  let text = '';
  for await (const chunk of response) text += String(chunk);
  return { code: response.statusCode, body: text };
}

function aReview(request: object = {}): string {
  return JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'u-1', operation: 'CREATE', object: { spec: {} }, oldObject: null, ...request },
  });
}

test('a denial is a reason with code 403 and no message', async () => {
  const server = await start(() => denied('bundle.spec is immutable'));
  const { code, body } = await call(server);
  expect(code).toBe(200);
  expect(JSON.parse(body)).toEqual({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid: 'u-1',
      allowed: false,
      status: { code: 403, reason: 'bundle.spec is immutable' },
    },
  });
});

test('a validator that throws refuses this request with 500 and no other', async () => {
  const server = await start(({ name }) => {
    if (name === 'odd') throw new Error('ConfigMaps cannot be read');
    return allowed;
  });
  const odd = JSON.parse((await call(server, { body: aReview({ name: 'odd' }) })).body);
  const status = { code: 500, message: 'ConfigMaps cannot be read' };
  expect(odd.response).toEqual({ uid: 'u-1', allowed: false, status });
  expect(JSON.parse((await call(server)).body).response).toEqual({ uid: 'u-1', allowed: true });
});

test.each<[what: string, code: number, call: Call]>([
  ['an empty body', 400, { body: '' }],
  ['no JSON', 400, { body: '{"apiVersion":' }],
  ['null', 400, { body: 'null' }],
  ['no UTF-8', 400, { body: Buffer.from([0x22, 0xff, 0xfe, 0x22]) }],
  ['deep nesting', 400, { body: '['.repeat(200_000) }],
  ['another kind', 400, { body: '{"apiVersion":"v1","kind":"Pod"}' }],
  ['an old version', 400, { body: aReview().replace('k8s.io/v1', 'k8s.io/v1beta1') }],
  ['no uid', 400, { body: aReview({ uid: '' }) }],
  ['an unknown operation', 400, { body: aReview({ operation: 'BREAK' }) }],
  ['a prototype for a request', 400, { body: '{"__proto__":{"request":{"uid":"1"}}}' }],
  ['a body of 9 MiB', 413, { body: Buffer.alloc(9 * 1024 * 1024, 0x20) }],
  ['another path', 404, { path: '/__proto__' }],
  ['another method', 405, { method: 'GET', body: '' }],
])('%s is answered with %i, and the next request is served', async (_what, code, bad) => {
  const server = await start();
  // A client that still sends when the refusal comes may see its connection close instead.
  const answer = await call(server, bad).catch(() => ({ code, body: 'closed\n' }));
  expect(answer.code).toBe(code);
  expect(answer.body).toMatch(/^[^\n]+\n$/);
  expect((await call(server)).code).toBe(200);
});

test('an update with two objects of 3 MiB is judged', async () => {
  const server = await start();
  const object = { data: 'x'.repeat(3 * 1024 * 1024) };
  const { code } = await call(server, { body: aReview({ object, oldObject: object }) });
  expect(code).toBe(200);
});

test('what is no TLS does no harm', async () => {
  const server = await start();
  const socket = connect(server.port, '127.0.0.1');
  socket.end('GET / HTTP/1.1\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  expect((await call(server)).code).toBe(200);
});

test('new certificates are served without a restart, unusable ones are not', async () => {
  const server = await start();
  server.useCertificates(second.serving);
  expect((await call(server, { ca: second.caBundle })).code).toBe(200);
  await expect(call(server, { ca: first.caBundle })).rejects.toThrow();
  server.useCertificates({ certificate: 'garbage', privateKey: first.serving.privateKey });
  server.useCertificates({ ...first.serving, privateKey: second.serving.privateKey });
  expect((await call(server, { ca: second.caBundle })).code).toBe(200);
});

test('an idle connection outlasts the 90 s for which the API server keeps it', async () => {
  const { port } = await start();
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  const ca = first.caBundle;
  const request = httpsRequest({
    host: '127.0.0.1',
    port,
    path: '/validate',
    method: 'POST',
    ca,
    agent,
  });
  request.end(aReview());
  const [response] = await once(request, 'response');
  response.resume();
  const [, seconds] = /timeout=(\d+)/.exec(response.headers['keep-alive']) ?? [];
  expect(Number(seconds)).toBeGreaterThan(90);
});

test('closing lets a running request finish', async () => {
  const gate = Promise.withResolvers<void>();
  const validator = vi.fn<AdmissionValidator>(async () => {
    await gate.promise;
    return allowed;
  });
  const server = await start(validator);
  const answer = call(server);
  await eventually(() => expect(validator).toHaveBeenCalled());
  const closed = server.close();
  await expect(call(server)).rejects.toThrow('ECONNREFUSED');
  gate.resolve();
  expect((await answer).code).toBe(200);
  await closed;
});

test('closing cuts off a request that hangs, and its validator hears of it', async () => {
  const aborted = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const server = await start(async (_request, signal) => {
    signal.addEventListener('abort', () => aborted.resolve());
    started.resolve();
    await aborted.promise;
    return allowed;
  });
  const answer = expect(call(server)).rejects.toThrow();
  await started.promise;
  await server.close(10);
  await aborted.promise;
  await answer;
});

test('a taken port is an error at the start', async () => {
  const { port } = await start();
  const again = startWebhookServer({
    host: '127.0.0.1',
    port,
    certificates: first.serving,
    routes: new Map(),
    clock: systemClock,
    logger: silentLogger,
  });
  await expect(again).rejects.toThrow('EADDRINUSE');
});

test('a validator hears that the time of its request is nearly over', async () => {
  const server = await start(async (_request, signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return denied('too late');
  });
  const { body } = await call(server, { path: '/validate?timeout=400ms' });
  expect(JSON.parse(body).response.status.reason).toBe('too late');
});

test('no client has a request judged for longer than the API server waits', async () => {
  const clock = new ManualClock();
  const judged = Promise.withResolvers<void>();
  const validator: AdmissionValidator = async (_request, signal) => {
    judged.resolve();
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return denied('too late');
  };
  const server = await start(validator, undefined, clock);
  const answer = call(server, { path: '/validate?timeout=600m' });
  await judged.promise;
  clock.advance(30_000);
  expect(JSON.parse((await answer).body).response.status.reason).toBe('too late');
});

test('a validator learns which client sent the request', async () => {
  let client: string | undefined;
  const server = await start((request) => {
    client = request.client;
    return allowed;
  });
  await call(server, { body: aReview({ client: '10.0.0.1' }) });
  expect(client).toBe('127.0.0.1');
});

test('an observer hears of requests to webhooks, and of no other path', async () => {
  const heard: string[] = [];
  const server = await start(() => allowed, {
    began: (webhook) => void heard.push(`began ${webhook}`),
    answered: (webhook, code) => void heard.push(`answered ${webhook} ${code}`),
  });
  await call(server);
  await call(server, { path: '/stranger' });
  await eventually(() => {
    expect(heard).toEqual(['began /validate', 'answered /validate 200']);
  });
});
