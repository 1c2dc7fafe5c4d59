import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeApiServer } from '../../../../test/helpers/fake-api-server.ts';
import { systemClock } from '../../clock.ts';
import { configMapResource, connect, type KubeConnection } from '../../kube/index.ts';
import { LeaseLock } from './lease-lock.ts';

const leases = '/apis/coordination.k8s.io/v1/namespaces/system/leases';
const configMaps = '/api/v1/namespaces/shop/configmaps';

let api: FakeApiServer;
let kube: KubeConnection;

beforeEach(async () => {
  api = await FakeApiServer.start();
  kube = connect({ kubeconfig: api.kubeconfig, userAgent: 'test/1' });
});

afterEach(async () => {
  await kube.close();
  await api.stop();
});

test('is taken and renewed at once while a webhook of the cluster holds all other writes', async () => {
  const held = Promise.withResolvers<object>();
  api.answer(`${configMaps}/held`, () => held.promise);
  api.answer(leases, ({ body }) => JSON.parse(body));
  api.answer(`${leases}/lock`, ({ method, body }) =>
    method === 'PUT' ? JSON.parse(body) : undefined,
  );
  const target = { resource: configMapResource, key: { namespace: 'shop', name: 'held' } };
  const writes = Array.from({ length: 200 }, async () => {
    await kube.client.patch(target, {}, { type: 'merge' });
  });
  const answered = Promise.all(writes);
  while (api.requests.length < 80) await setImmediate();
  const { client } = kube;
  const names = { namespace: 'system', name: 'lock', identity: 'a' };
  const lock = new LeaseLock({ client, ...names, clock: systemClock });
  expect(await lock.takeOrRenew(AbortSignal.timeout(120_000))).toBe(true);
  expect(await lock.takeOrRenew(AbortSignal.timeout(120_000))).toBe(true);
  expect(api.requests.filter(({ path }) => path === `${configMaps}/held`)).toHaveLength(80);
  held.resolve({ apiVersion: 'v1', kind: 'ConfigMap', metadata: target.key });
  await answered;
});
