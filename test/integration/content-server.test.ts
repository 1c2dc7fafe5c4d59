import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BundleFilesBuilder, defaultLimits } from '../../core/content/index.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { connect, type KubeConnection } from '../../core/platform/kube/index.ts';
import type { RawRequest } from '../../core/platform/kube/kube-client.ts';
import { Metrics } from '../../core/platform/observe/index.ts';
import {
  apiServerAccessReviewer,
  type ContentServer,
  createFallbackLoader,
  DiskStore,
  startContentServer,
} from '../../core/store/index.ts';
import { eventually } from '../helpers/eventually.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';

const id = `content-server-${randomUUID().slice(0, 8)}`;
const bundle = { name: 'my-bundle', uid: randomUUID() };
const core = `/api/v1/namespaces/${id}`;
const rbac = '/apis/rbac.authorization.k8s.io/v1';
/** The one Bundle that there is. */
const served = {
  metrics: new Metrics().content,
  bundles: {
    keyOf: (name: string) => (name === bundle.name ? bundle : undefined),
    restore: async () => false,
  },
};

let kube: KubeConnection;
let directory: string;
let server: ContentServer;
let address: string;
let readerToken: string;
let guestToken: string;

beforeAll(async () => {
  kube = connect({ kubeconfig: plane.kubeconfig, userAgent: 'content-server-test' });
  await post('/api/v1/namespaces', { kind: 'Namespace', metadata: { name: id } });
  readerToken = await newServiceAccount('reader');
  guestToken = await newServiceAccount('guest');
  await grantReading('reader');

  directory = await mkdtemp(join(tmpdir(), 'content-server-'));
  const store = new DiskStore({ directory, externalAddress: '', limits: defaultLimits });
  const files = new BundleFilesBuilder(defaultLimits);
  files.addFile('manifests/a.yaml', Buffer.from('kind: Namespace'));
  await store.put(bundle, files.build());
  server = await startContentServer({
    address: { host: '127.0.0.1', port: 0 },
    directory,
    reviewer: apiServerAccessReviewer(kube.client),
    clock: systemClock,
    logger: silentLogger,
    ...served,
    renderMetrics: async () => ({ contentType: 'text/plain', body: 'up 1\n' }),
  });
  address = `http://127.0.0.1:${server.port}`;
});

afterAll(async () => {
  await server?.close();
  for (const path of [
    `${rbac}/clusterrolebindings/${id}`,
    `${rbac}/clusterroles/${id}`,
    `/api/v1/namespaces/${id}`,
  ]) {
    await kube.client.request({ method: 'DELETE', path });
  }
  await kube.close();
  await rm(directory, { recursive: true });
});

async function post(path: string, body: object): Promise<unknown> {
  const apiVersion = path.startsWith(rbac) ? 'rbac.authorization.k8s.io/v1' : 'v1';
  const request: RawRequest = { method: 'POST', path, body: { apiVersion, ...body } };
  return await kube.client.request(request);
}

/** Makes an account and returns a token of it. */
async function newServiceAccount(name: string): Promise<string> {
  await post(`${core}/serviceaccounts`, { kind: 'ServiceAccount', metadata: { name } });
  return await newToken(name);
}

/** For the API server itself without audiences. */
async function newToken(name: string, ...audiences: readonly string[]): Promise<string> {
  const answer = await post(`${core}/serviceaccounts/${name}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 600, audiences },
  });
  return (answer as { status: { token: string } }).status.token;
}

/** What the shipped ClusterRole `bundle-reader` grants. */
async function grantReading(serviceAccount: string): Promise<void> {
  await post(`${rbac}/clusterroles`, {
    kind: 'ClusterRole',
    metadata: { name: id },
    rules: [{ nonResourceURLs: ['/bundles/*'], verbs: ['get'] }],
  });
  await post(`${rbac}/clusterrolebindings`, {
    kind: 'ClusterRoleBinding',
    metadata: { name: id },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: id },
    subjects: [{ kind: 'ServiceAccount', name: serviceAccount, namespace: id }],
  });
}

async function ask(path: string, token: string, method: 'GET' | 'HEAD' | 'PUT' = 'GET') {
  const { statusCode, body } = await request(address + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
  });
  return { status: statusCode, text: await body.text() };
}

const archive = '/bundles/my-bundle.tgz';

describe('the content server with a real API server', () => {
  it('serves those whom a ClusterRole lets read /bundles/*', async () => {
    // RBAC is read from a watch cache: a grant takes a moment to count.
    await eventually(async () => {
      expect(await ask(archive, readerToken)).toMatchObject({ status: 200 });
    });
    expect(await ask(archive, readerToken, 'HEAD')).toEqual({ status: 200, text: '' });
    expect(await ask('/bundles/unknown.tgz', readerToken)).toEqual({
      status: 404,
      text: '404 page not found\n',
    });
  });

  it.each([
    ['guest', 'GET', archive, 'get'],
    ['reader', 'PUT', archive, 'update'],
    ['reader', 'GET', '/metrics', 'get'],
  ] as const)('refuses a %s who asks %s %s', async (...[account, method, path, verb]) => {
    expect(await ask(path, account === 'guest' ? guestToken : readerToken, method)).toEqual({
      status: 403,
      text: `Forbidden (user=system:serviceaccount:${id}:${account}, verb=${verb}, resource=, subresource=)\n`,
    });
  });

  it('does not know a token that the API server never gave', async () => {
    const forged = `${readerToken.slice(0, -8)}AAAAAAAA`;
    expect(await ask(archive, forged)).toEqual({ status: 401, text: 'Unauthorized\n' });
  });

  it('takes tokens for the API server alone, or for the audiences that it is told', async () => {
    const content = await newToken('reader', 'content');
    const both = await newToken('reader', 'other', 'content');
    const other = await newToken('reader', 'other');
    expect(await ask(archive, content)).toEqual({ status: 401, text: 'Unauthorized\n' });
    const strict = await startContentServer({
      address: { host: '127.0.0.1', port: 0 },
      directory,
      ...served,
      reviewer: apiServerAccessReviewer(kube.client, ['content', 'backup']),
      clock: systemClock,
      logger: silentLogger,
    });
    try {
      const statuses: number[] = [];
      for (const token of [content, both, other, readerToken]) {
        const headers = { authorization: `Bearer ${token}` };
        const { statusCode, body } = await request(`http://127.0.0.1:${strict.port}${archive}`, {
          headers,
        });
        await body.dump();
        statuses.push(statusCode);
      }
      expect(statuses).toEqual([200, 200, 401, 401]);
    } finally {
      await strict.close();
    }
  });

  it('lets another process of the project load the content', async () => {
    const loader = createFallbackLoader({
      store: { load: async () => undefined },
      contentServers: [address],
      token: async () => readerToken,
      limits: defaultLimits,
    });
    const stored = { ...bundle, contentURL: address + archive };
    const loaded = await loader.load(stored, AbortSignal.timeout(240_000));
    expect([...loaded.files.keys()]).toEqual(['manifests/a.yaml']);
  });

  it('lets nobody in while the API server cannot be asked', async () => {
    const nowhere = connect({ kubeconfig: plane.kubeconfig, userAgent: 'content-server-test' });
    await nowhere.close();
    const cut = await startContentServer({
      address: { host: '127.0.0.1', port: 0 },
      directory,
      ...served,
      reviewer: apiServerAccessReviewer(nowhere.client),
      clock: systemClock,
      logger: silentLogger,
    });
    const { statusCode, body } = await request(`http://127.0.0.1:${cut.port}${archive}`, {
      headers: { authorization: `Bearer ${readerToken}` },
    });
    await body.dump();
    await cut.close();
    expect(statusCode).toBe(503);
  });
});
