import { expect, test } from 'vitest';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { deploymentApplySetID } from '../objects/applyset.ts';
import { ApplySetParents } from './applyset-parent.ts';

const { signal } = new AbortController();
const configMap = { group: '', kind: 'ConfigMap' };

test('the finalizer comes with the marks, beside those of others, and once', async () => {
  const client = new FakeKubeClient();
  const owner = client.put(aStoredDeployment({ metadata: { finalizers: ['other/x'] } }));
  const parents = new ApplySetParents(client, 'rukpak-system');
  await parents.write(owner as BundleDeployment, [configMap], signal);
  await parents.write(owner as BundleDeployment, [configMap], signal);
  const { finalizers, labels } = client.peek({ name: 'demo' })?.metadata ?? {};
  expect(finalizers).toEqual(['other/x', 'core.rukpak.io/delete-objects']);
  expect(labels).toMatchObject({ 'applyset.kubernetes.io/id': deploymentApplySetID('demo') });
  expect(client.count('patch')).toBe(1);
});

test('a finalizer that somebody added since is not lost: it is tried again', async () => {
  const client = new FakeKubeClient();
  const owner = client.put(aStoredDeployment()) as BundleDeployment;
  client.put({ ...owner, metadata: { ...owner.metadata, finalizers: ['other/x'] } });
  const parents = new ApplySetParents(client, 'rukpak-system');
  await expect(parents.write(owner, [configMap], signal)).rejects.toThrow('Conflict');
  expect(client.peek({ name: 'demo' })?.metadata.finalizers).toEqual(['other/x']);
});

test('marks that a restored store has lost are written again', async () => {
  const client = new FakeKubeClient();
  const owner = client.put(aStoredDeployment()) as BundleDeployment;
  const restore = client.snapshot();
  const { name = '' } = owner.metadata;
  const parents = new ApplySetParents(client, 'rukpak-system');
  await parents.write(owner, [configMap], signal);
  const seen = client.peek({ name }) as typeof owner;
  expect(parents.kinds(seen)).toEqual([configMap]);
  await parents.write(seen, [configMap], signal);
  expect(client.count('patch')).toBe(1);
  restore();
  expect(parents.kinds(owner)).toEqual([]);
  await parents.write(owner, [configMap], signal);
  expect(client.count('patch')).toBe(2);
});
