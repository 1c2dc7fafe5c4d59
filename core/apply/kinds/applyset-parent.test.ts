import { expect, test } from 'vitest';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { deploymentApplySetID } from '../objects/owner-marks.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { ApplySetParents } from './applyset-parent.ts';

const { signal } = new AbortController();
const configMap = { group: '', kind: 'ConfigMap' };

function parentsOf(client: FakeKubeClient): ApplySetParents {
  const owners = new OwnerStates(new ManualClock());
  return new ApplySetParents({ client, systemNamespace: 'rukpak-system', owners });
}

test('the finalizer comes with the marks, beside those of others, and once', async () => {
  const client = new FakeKubeClient();
  const owner = client.put(aStoredDeployment({ metadata: { finalizers: ['other/x'] } }));
  const parents = parentsOf(client);
  await parents.write(owner as BundleDeployment, [configMap], signal);
  await parents.write(owner as BundleDeployment, [configMap], signal);
  const { finalizers, labels } = client.peek({ name: 'demo' })?.metadata ?? {};
  expect(finalizers).toEqual(['other/x', 'core.rukpak.io/delete-objects']);
  expect(labels).toMatchObject({ 'applyset.kubernetes.io/id': deploymentApplySetID('demo') });
  expect(client.count('patch')).toBe(1);
});

test('a parent that was changed since it was read is read again: nothing of others is lost', async () => {
  const client = new FakeKubeClient();
  const owner = client.put(aStoredDeployment()) as BundleDeployment;
  client.put({ ...owner, metadata: { ...owner.metadata, finalizers: ['other/x'] } });
  const parents = parentsOf(client);
  await parents.write(owner, [configMap], signal);
  const { finalizers, labels } = client.peek({ name: 'demo' })?.metadata ?? {};
  expect(finalizers).toEqual(['other/x', 'core.rukpak.io/delete-objects']);
  expect(labels).toMatchObject({ 'applyset.kubernetes.io/id': deploymentApplySetID('demo') });
  expect(parents.isParent(owner)).toBe(true);
});

test('a conflict stays one where others are quicker each time', async () => {
  const client = new FakeKubeClient();
  const owner = client.put(aStoredDeployment()) as BundleDeployment;
  client.beforeCall = (call) => {
    if (call === 'patch') client.put({ ...owner, status: { observedGeneration: 1 } });
  };
  const parents = parentsOf(client);
  await expect(parents.write(owner, [configMap], signal)).rejects.toThrow('Conflict');
  expect(client.count('patch')).toBe(5);
  expect(client.peek({ name: 'demo' })?.metadata.finalizers).toBeUndefined();
});

test.each([
  ['is being deleted', { deletionTimestamp: '2026-01-01T00:00:00Z' }],
  ['is another one of that name', { uid: 'another' }],
])('a parent that %s by now gets neither marks nor finalizer', async (_, metadata) => {
  const client = new FakeKubeClient();
  const owner = client.put(aStoredDeployment()) as BundleDeployment;
  client.drop({ name: 'demo' });
  const now = client.put({ ...owner, metadata: { ...owner.metadata, ...metadata } });
  const parents = parentsOf(client);
  await expect(parents.write(owner, [configMap], signal)).rejects.toThrow('Conflict');
  expect(client.peek({ name: 'demo' })).toEqual(now);
  expect(client.count('patch')).toBe(1);
});

test('marks that a restored store has lost are written again', async () => {
  const client = new FakeKubeClient();
  const owner = client.put(aStoredDeployment()) as BundleDeployment;
  const restore = client.snapshot();
  const { name = '' } = owner.metadata;
  const parents = parentsOf(client);
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
