import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import { bundleResource } from '../../api/v1alpha1/index.ts';
import { configMapResource } from '../../core/platform/kube/index.ts';
import { FakeKubeClient } from '../../test/helpers/fake-kube-client.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import { bundleReferences, configMapReader } from './live-lookups.ts';

const namespace = 'system';
const { signal } = new AbortController();

function aBundleOf(name: string, configMap: string): KubernetesObject {
  const source = { type: 'configMaps', configMaps: [{ configMap: { name: configMap } }] };
  return aStoredBundle({ name, source });
}

test('a Bundle that is gone holds no ConfigMap, though the watch has not told of it yet', async () => {
  const client = new FakeKubeClient();
  await client.create(bundleResource, aBundleOf('there', 'content'));
  const references = bundleReferences(client, () => ['gone', 'there']);
  expect(await references.bundlesReferencing('content', signal)).toEqual(['there']);
});

test('a Bundle holds its ConfigMap before the watch has told of it', async () => {
  const client = new FakeKubeClient();
  await client.create(bundleResource, aBundleOf('new', 'content'));
  await client.create(bundleResource, aBundleOf('other', 'others'));
  for (const watched of [[], ['gone']]) {
    const references = bundleReferences(client, () => watched);
    expect(await references.bundlesReferencing('content', signal)).toEqual(['new']);
  }
});

test('many reviews share the lists of Bundles, and none gets an older one than its question', async () => {
  const client = new FakeKubeClient();
  const gate = Promise.withResolvers<void>();
  const listed = Promise.withResolvers<void>();
  client.afterCall = () => {
    listed.resolve();
    return gate.promise;
  };
  const references = bundleReferences(client, () => []);
  const ask = () => references.bundlesReferencing('content', signal);
  const before = ask();
  await listed.promise;
  await client.create(bundleResource, aBundleOf('new', 'content'));
  const after = Array.from({ length: 100 }, ask);
  gate.resolve();
  expect(await before).toEqual([]);
  for (const answer of await Promise.all(after)) expect(answer).toEqual(['new']);
  expect(client.calls.filter((call) => call === 'list')).toHaveLength(2);
});

test('a review that has no more time leaves the list to the others', async () => {
  const client = new FakeKubeClient();
  const gate = Promise.withResolvers<void>();
  client.afterCall = () => gate.promise;
  const references = bundleReferences(client, () => []);
  const late = new AbortController();
  const answers = [late.signal, signal].map((each) => references.bundlesReferencing('a', each));
  late.abort(new Error('the time is over'));
  await expect(answers[0]).rejects.toThrow('the time is over');
  gate.resolve();
  expect(await answers[1]).toEqual([]);
});

test('a ConfigMap counts before the watch has told of it', async () => {
  const client = new FakeKubeClient();
  const metadata = { namespace, name: 'mutable' };
  await client.create(configMapResource, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
  const configMaps = configMapReader(client, namespace, () => undefined);
  expect(await configMaps.get('mutable', signal)).toEqual({ immutable: false });
  expect(await configMaps.get('missing', signal)).toBeUndefined();
});

test('a ConfigMap that the watch has told of costs no request', async () => {
  const client = new FakeKubeClient();
  const configMaps = configMapReader(client, namespace, () => ({ immutable: true }));
  expect(await configMaps.get('content', signal)).toEqual({ immutable: true });
  expect(client.calls).toEqual([]);
});
