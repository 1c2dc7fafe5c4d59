import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Agent, type RequestOptions, request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { type CertificateState, renewCertificates } from '../core/platform/certificates/renewal.ts';
import { systemClock } from '../core/platform/clock.ts';
import { eventually } from '../test/helpers/eventually.ts';
import { ManualClock } from '../test/helpers/manual-clock.ts';
import { silentLogger } from '../test/helpers/silent-logger.ts';
import { allowed } from './review.ts';
import { startWebhookServer, type WebhookServerOptions } from './server.ts';

const apiServer = '127.0.0.1';
const stranger = '127.0.0.2';
const mebibyte = 1024 * 1024;

let certificates: CertificateState;

beforeAll(async () => {
  certificates = await renewCertificates(undefined, [apiServer], Date.now());
});

async function start(options: Partial<WebhookServerOptions> = {}): Promise<number> {
  const server = await startWebhookServer({
    host: apiServer,
    port: 0,
    certificates: certificates.serving,
    routes: new Map([['/validate', () => allowed]]),
    clock: systemClock,
    logger: silentLogger,
    ...options,
  });
  onTestFinished(() => server.close(0));
  return server.port;
}

interface Answer {
  readonly status: number | undefined;
  readonly text: string;
}

/** A request whose body is the caller's to send, and its answer. */
function begin(port: number, from: string, options: RequestOptions = {}) {
  const sent = request({
    host: apiServer,
    port,
    localAddress: from,
    path: '/validate',
    method: 'POST',
    ca: certificates.caBundle,
    agent: false,
    ...options,
  });
  onTestFinished(() => void sent.destroy());
  const answer = once(sent, 'response').then(async ([response]): Promise<Answer> => {
    let text = '';
    for await (const chunk of response as IncomingMessage) text += String(chunk);
    return { status: (response as IncomingMessage).statusCode, text };
  });
  answer.catch(() => undefined);
  return { sent, answer };
}

function collect(answer: Promise<Answer>, answers: Answer[]): void {
  // A refused client may see its connection close before it has read why.
  answer.then((came) => answers.push(came)).catch(() => undefined);
}

async function review(port: number, agent: Agent | false = false): Promise<Answer> {
  const { sent, answer } = begin(port, apiServer, { agent });
  sent.end(
    JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: { uid: 'u-1', operation: 'CREATE', object: {}, oldObject: null },
    }),
  );
  return await answer;
}

test('strangers who promise bodies hold a share of the memory, for 5 s; others are answered', {
  tags: ['slow'],
}, async () => {
  const clock = new ManualClock();
  const port = await start({ clock });
  const headers = { 'content-length': 8 * mebibyte };
  const calls = Array.from({ length: 150 }, () => begin(port, stranger, { headers }));
  for (const { sent } of calls) sent.flushHeaders();
  const answers: Answer[] = [];
  for (const { answer } of calls) collect(answer, answers);
  await eventually(() => expect(answers).toHaveLength(146));
  for (const { status, text } of answers) {
    expect([status, text]).toEqual([
      503,
      'requests from 127.0.0.2 hold 33554432 bytes already: wait until one has ended\n',
    ]);
  }
  expect((await review(port)).status).toBe(200);
  clock.advance(5_000);
  await eventually(() => expect(answers).toHaveLength(150));
  expect(answers.slice(146)).toEqual(
    Array.from({ length: 4 }, () => ({ status: 408, text: 'the body did not come within 5 s\n' })),
  );
  const { sent, answer } = begin(port, stranger, { headers: { 'content-length': 2 } });
  sent.end('{}');
  expect((await answer).status).toBe(400);
});

test('a body without a length reserves as it comes', async () => {
  const port = await start({ clock: new ManualClock() });
  const calls = Array.from({ length: 5 }, () => begin(port, stranger));
  const answers: Answer[] = [];
  for (const { sent, answer } of calls) {
    sent.on('error', () => undefined);
    sent.write(Buffer.alloc(8 * mebibyte, 0x20));
    collect(answer, answers);
  }
  await eventually(() => expect(answers.map(({ status }) => status)).toContain(503));
  expect((await review(port)).status).toBe(200);
});

test('bodies give back what they held', { tags: ['slow'] }, async () => {
  const port = await start();
  for (let call = 0; call < 7; call += 1) {
    const { sent, answer } = begin(port, stranger);
    sent.end(Buffer.alloc(8 * mebibyte, 0x20));
    expect((await answer).status).toBe(400);
  }
});

async function opened(port: number, localAddress: string): Promise<Socket> {
  const socket = connect({ host: apiServer, port, localAddress });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

test('idle connections of strangers neither pile up nor take the place of the API server’s', {
  tags: ['slow'],
}, async () => {
  const port = await start();
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => agent.destroy());
  expect((await review(port, agent)).status).toBe(200);
  const [kept] = Object.values(agent.freeSockets).flat();
  const strangers: Socket[] = [];
  for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4']) {
    for (let call = 0; call < 270; call += 1) strangers.push(await opened(port, address));
  }
  const open = () => strangers.filter(({ closed }) => !closed).length;
  for (const socket of strangers) socket.resume();
  await eventually(() => expect(open()).toBeLessThanOrEqual(511));
  expect((await review(port)).status).toBe(200);
  expect((await review(port, agent)).status).toBe(200);
  expect(Object.values(agent.freeSockets).flat()).toEqual([kept]);
});

test('requests of two strangers that send no body do not keep the API server out', {
  tags: ['slow'],
}, async () => {
  let begun = 0;
  const observer = { began: () => void (begun += 1), answered: () => undefined };
  const port = await start({ clock: new ManualClock(), observer });
  for (const address of [stranger, '127.0.0.3']) {
    for (let call = 0; call < 256; call += 1) {
      begin(port, address, { headers: { 'content-length': 2 } }).sent.flushHeaders();
    }
  }
  await eventually(() => expect(begun).toBe(512));
  expect((await review(port)).status).toBe(200);
});
