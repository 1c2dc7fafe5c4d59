import { expect, test } from 'vitest';
import { bundleResource } from '../../api/v1alpha1/index.ts';
import { FakeKubeClient } from '../../test/helpers/fake-kube-client.ts';
import { bundleReferences } from './webhook-caches.ts';

const bundleType = { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'Bundle' };
const { signal } = new AbortController();

test('a Bundle that is gone holds no ConfigMap, though the watch has not told of it yet', async () => {
  const client = new FakeKubeClient();
  await client.create(bundleResource, { ...bundleType, metadata: { name: 'there' } });
  const references = bundleReferences(client, () => ['gone', 'there']);
  expect(await references.bundlesReferencing('content', signal)).toEqual(['there']);
});

test('without a Bundle that holds it, nothing is asked', async () => {
  const client = new FakeKubeClient();
  expect(await bundleReferences(client, () => []).bundlesReferencing('content', signal)).toEqual(
    [],
  );
  expect(client.calls).toEqual([]);
});
