import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { annotation, finalizer } from '../../../api/v1alpha1/labels.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { refusal } from '../../../test/helpers/json-patched.ts';
import { aStoredBundle, aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { Cluster } from '../cluster.ts';
import { withoutUnfinished } from './uploaded-deployment.ts';

const metadata = { name: 'shop', uid: 'u', generation: 1 };
const deleted = 'late; BundleDeployment "shop", which was new, is deleted again';
const installing =
  'late; BundleDeployment "shop" was kept, because core has begun to install it: rukpakctl status shop';

/** The cluster's deployment after `run` applied it, and the message of the cleanup. */
async function cleanUp(
  client: FakeKubeClient,
): Promise<{ readonly message: string; readonly isKept: boolean }> {
  const made = aStoredDeployment({ metadata });
  const cluster = { client } as unknown as Cluster;
  const { message } = await withoutUnfinished(new Error('late'), made, cluster);
  return { message, isKept: client.peek({ name: 'shop' }) !== undefined };
}

function aClient(...objects: readonly KubernetesObject[]): FakeKubeClient {
  const client = new FakeKubeClient();
  for (const object of objects) client.put(object);
  return client;
}

test('a deployment that core has not begun to install is deleted', async () => {
  const waiting = { type: 'HasValidBundle', status: 'False', reason: 'UnpackPending', message: '' };
  const status = { observedGeneration: 1, conditions: [waiting] };
  const pending = aStoredBundle({ metadata: { name: 'shop-1' }, status: { phase: 'Pending' } });
  const client = aClient({ ...aStoredDeployment({ metadata }), status }, pending);
  expect(await cleanUp(client)).toEqual({ message: deleted, isKept: false });
});

test.each<[string, object]>([
  ['core’s finalizer', { metadata: { ...metadata, finalizers: [finalizer.deleteObjects] } }],
  ['an active Bundle', { status: { activeBundle: 'shop-1' } }],
  [
    'a failed installation',
    { status: { conditions: [{ type: 'Installed', status: 'False', reason: 'InstallFailed' }] } },
  ],
])('a deployment with %s is kept', async (_case, fields) => {
  const client = aClient({ ...aStoredDeployment({ metadata }), ...fields });
  expect(await cleanUp(client)).toEqual({ message: installing, isKept: true });
});

test.each<[string, object]>([
  ['is unpacked', { status: { phase: 'Unpacked' } }],
  ['was uploaded', { metadata: { annotations: { [annotation.uploadDigest]: 'd' } } }],
])('a deployment is kept if content of its Bundle %s', async (_case, fields) => {
  const { metadata: extra = {}, ...rest } = fields as { readonly metadata?: object };
  const bundle = { ...aStoredBundle({ metadata: { name: 'shop-1', ...extra } }), ...rest };
  const { message, isKept } = await cleanUp(aClient(aStoredDeployment({ metadata }), bundle));
  expect(message).toBe(
    'late; BundleDeployment "shop" was kept, because its Bundle "shop-1" has content: rukpakctl status shop',
  );
  expect(isKept).toBe(true);
});

test('a deployment that core begins to install between the check and the deletion is kept', async () => {
  const deployment = aStoredDeployment({ metadata });
  const client = aClient(deployment);
  client.beforeCall = (call) => {
    if (call !== 'delete') return;
    client.put({
      ...deployment,
      metadata: { ...metadata, finalizers: [finalizer.deleteObjects] },
    });
  };
  expect(await cleanUp(client)).toEqual({ message: installing, isKept: true });
});

test('a deployment is deleted after a conflict with a write that installs nothing', async () => {
  const client = aClient(aStoredDeployment({ metadata }));
  client.faults.delete = [refusal(409, 'Conflict')];
  expect(await cleanUp(client)).toEqual({ message: deleted, isKept: false });
});

test.each<[string, object, string]>([
  [
    'was changed',
    { generation: 2 },
    'late; BundleDeployment "shop" was kept, because another client changed it meanwhile',
  ],
  ['was replaced', { uid: 'other' }, 'late'],
])('a deployment that %s is kept', async (_case, change, text) => {
  const client = aClient(aStoredDeployment({ metadata: { ...metadata, ...change } }));
  expect(await cleanUp(client)).toEqual({ message: text, isKept: true });
});
