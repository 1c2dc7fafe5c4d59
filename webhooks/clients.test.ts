import { once } from 'node:events';
import { Agent, request as httpsRequest } from 'node:https';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { KeyPair } from '../core/platform/certificates/index.ts';
import { ClientAuthorities } from '../core/platform/certificates/index.ts';
import { type CertificateState, renewCertificates } from '../core/platform/certificates/renewal.ts';
import { systemClock } from '../core/platform/clock.ts';
import { issueClientCertificate } from '../test/helpers/client-certificate.ts';
import { silentLogger } from '../test/helpers/silent-logger.ts';
import { type AdmissionValidator, allowed } from './review.ts';
import { startWebhookServer, type WebhookServer } from './server.ts';

const hour = 3_600_000;

let serving: CertificateState;
let ours: CertificateState;
let others: CertificateState;

beforeAll(async () => {
  const issue = () => renewCertificates(undefined, ['127.0.0.1'], Date.now());
  [serving, ours, others] = await Promise.all([issue(), issue(), issue()]);
});

async function aClient(
  { caBundle, caKey }: CertificateState,
  user = 'kube-apiserver',
  use: 'clientAuth' | 'serverAuth' = 'clientAuth',
): Promise<KeyPair> {
  const validity = { notBefore: Date.now() - hour, notAfter: Date.now() + hour, use };
  const ca = { certificate: caBundle, privateKey: caKey };
  return await issueClientCertificate(ca, { user, groups: [] }, validity);
}

interface Guarded {
  readonly server: WebhookServer;
  readonly authorities: ClientAuthorities;
  /** Of requests that a validator was asked about. */
  readonly judged: () => number;
}

async function start(
  names: readonly string[] = [],
  validator: AdmissionValidator = () => allowed,
): Promise<Guarded> {
  const authorities = new ClientAuthorities();
  authorities.set(ours.caBundle);
  let judged = 0;
  const count: AdmissionValidator = (request, signal) => {
    judged += 1;
    return validator(request, signal);
  };
  const server = await startWebhookServer({
    host: '127.0.0.1',
    port: 0,
    certificates: serving.serving,
    clients: { authorities, names },
    routes: new Map([['/validate', count]]),
    clock: systemClock,
    logger: silentLogger,
  });
  onTestFinished(() => server.close(0));
  return { server, authorities, judged: () => judged };
}

const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'u-1', operation: 'CREATE', object: {}, oldObject: null },
});

async function call(
  { port }: WebhookServer,
  client?: KeyPair,
  agent: Agent | false = false,
): Promise<{ readonly code: number; readonly body: string }> {
  const request = httpsRequest({
    host: '127.0.0.1',
    port,
    path: '/validate',
    method: 'POST',
    ca: serving.caBundle,
    ...(client && { cert: client.certificate, key: client.privateKey }),
    agent,
  });
  request.end(review);
  const [response] = await once(request, 'response');
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return { code: response.statusCode, body };
}

test('a caller with a certificate of the configured authority is answered', async () => {
  const { server } = await start();
  expect((await call(server, await aClient(ours))).code).toBe(200);
});

test.each<[who: string, client: () => Promise<KeyPair> | undefined]>([
  ['without a certificate', () => undefined],
  ['with a certificate of another authority', () => aClient(others)],
  ['with our own serving certificate', async () => serving.serving],
  ['with a certificate for servers', () => aClient(ours, 'kube-apiserver', 'serverAuth')],
])('a caller %s is refused, and nothing is judged', async (_who, client) => {
  const { server, judged } = await start();
  await expect(call(server, await client())).rejects.toThrow();
  expect(judged()).toBe(0);
});

test('of the authority’s clients, those that are named are answered', async () => {
  const { server, judged } = await start(['kube-apiserver', 'front']);
  expect((await call(server, await aClient(ours, 'front'))).code).toBe(200);
  const { code, body } = await call(server, await aClient(ours, 'kubelet'));
  expect(code).toBe(403);
  expect(body).toBe(
    'the client certificate of "kubelet" is not that of a client which --client-name allows\n',
  );
  expect(judged()).toBe(1);
});

test('new authorities hold for new connections, and none of before is kept', async () => {
  const { server, authorities } = await start();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const client = await aClient(ours);
  expect((await call(server, client, agent)).code).toBe(200);
  authorities.set(others.caBundle);
  await expect(call(server, client, agent)).rejects.toThrow();
  expect((await call(server, await aClient(others))).code).toBe(200);
});

test('a connection that is answered while its authority goes takes no further request', async () => {
  const asked = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const { server, authorities, judged } = await start([], async () => {
    asked.resolve();
    await gate.promise;
    return allowed;
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => agent.destroy());
  const client = await aClient(ours);
  const answer = call(server, client, agent);
  await asked.promise;
  authorities.set(others.caBundle);
  gate.resolve();
  expect((await answer).code).toBe(200);
  await expect(call(server, client, agent)).rejects.toThrow();
  expect(judged()).toBe(1);
});

test('while no authority is known, nobody is answered', async () => {
  const { server, authorities, judged } = await start();
  authorities.set(undefined);
  await expect(call(server, await aClient(ours))).rejects.toThrow();
  expect(judged()).toBe(0);
});

test('renewed serving certificates leave callers held to theirs', async () => {
  const { server, judged } = await start();
  server.useCertificates(serving.serving);
  await expect(call(server)).rejects.toThrow();
  expect(judged()).toBe(0);
  expect((await call(server, await aClient(ours))).code).toBe(200);
});
