import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { annotation, finalizer } from '../../../api/v1alpha1/labels.ts';
import { templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import { desiredBundle } from '../../../core/bundle-deployment/desired-bundle.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { refusal } from '../../../test/helpers/json-patched.ts';
import { anImage } from '../../../test/helpers/objects.ts';
import { aStoredBundle, aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { Cluster } from '../cluster.ts';
import { uploadBundle, withoutUnfinished } from './uploaded-deployment.ts';

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

describe('the Bundle to upload to', () => {
  const spec = { provisionerClassName: 'plain', source: { type: 'upload', upload: {} } } as const;
  const labels = { app: 'shop', bundleDigest: 'd' };
  const deployment = aStoredDeployment({ metadata, template: { metadata: { labels }, spec } });
  const made = desiredBundle(deployment, templateHash(deployment.spec.template));
  const orphan = { ...made, metadata: { ...made.metadata, ownerReferences: [] } };

  function found(...bundles: readonly Bundle[]): Promise<string | undefined> {
    const client = aClient(...bundles);
    return uploadBundle({ client }, deployment, new AbortController().signal);
  }

  test('is the one that core made', async () => {
    expect(await found(made)).toBe(made.metadata.name);
  });

  test.each<[string, Bundle]>([
    ['another name', { ...made, metadata: { ...made.metadata, name: 'a-decoy' } }],
    ['another spec', { ...made, spec: { ...spec, source: anImage('example.com/app:v1') } }],
    ['no owner', orphan],
    [
      'a deployment of the name before as owner',
      {
        ...orphan,
        metadata: {
          ...orphan.metadata,
          ownerReferences: [{ ...made.metadata.ownerReferences![0]!, uid: 'before' }],
        },
      },
    ],
    [
      'a request for its deletion',
      { ...made, metadata: { ...made.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
    ],
  ])('is none with its labels and %s', async (_case, decoy) => {
    expect(await found(decoy)).toBeUndefined();
  });
});
