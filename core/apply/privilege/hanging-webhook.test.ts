import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import { FakeApiServer } from '../../../test/helpers/fake-api-server.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { configMapResource, connect, type KubeConnection } from '../../platform/kube/index.ts';
import { clientOf } from './permissions.ts';

let api: FakeApiServer;
let kube: KubeConnection;

beforeAll(async () => {
  api = await FakeApiServer.start();
  kube = connect({ kubeconfig: api.kubeconfig, userAgent: 'test' });
});

afterAll(async () => {
  await kube.close();
  await api.stop();
});

/** Applies a ConfigMap of the namespace as core does for the deployment. */
async function write(deployment: BundleDeployment, namespace: string): Promise<unknown> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace } };
  return await clientOf(deployment, kube.client).apply(configMapResource, object, {
    fieldManager: 'test',
  });
}

function deploymentsOf(user: string, count: number): readonly BundleDeployment[] {
  const metadata = { annotations: { [annotation.changedBy]: user } };
  return Array.from({ length: count }, (_, index) =>
    aStoredDeployment({ name: `${user}-${index}`, metadata }),
  );
}

test('a webhook that hangs for the objects of one user holds no write of others', async () => {
  const hanging = Promise.withResolvers<unknown>();
  const pathIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps/a`;
  const sentIn = (namespace: string): number =>
    api.requests.filter(({ path }) => path === pathIn(namespace)).length;
  api.answer(pathIn('hangs'), () => hanging.promise);
  api.answer(pathIn('works'), () => ({ kind: 'ConfigMap' }));
  const stuck = deploymentsOf('ann', 200).map(async (each) => await write(each, 'hangs'));
  while (sentIn('hangs') < 48) await setImmediate();
  for (const deployment of deploymentsOf('ben', 3)) await write(deployment, 'works');
  const metadata = { name: 'team' };
  const [own] = deploymentsOf('ann', 1);
  const spec = { ...own!.spec, serviceAccount: { namespace: 'team', name: 'deployer' } };
  await write({ ...own!, metadata, spec }, 'works');
  expect([sentIn('hangs'), sentIn('works')]).toEqual([48, 4]);
  hanging.resolve({ kind: 'ConfigMap' });
  await Promise.all(stuck);
});
