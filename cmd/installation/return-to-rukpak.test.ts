import { expect, test } from 'vitest';
import { FakeKubeClient } from '../../test/helpers/fake-kube-client.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { returnToRukpak } from './return-to-rukpak.ts';

function aClient(): FakeKubeClient {
  const client = new FakeKubeClient();
  const metadata = {
    name: 'demo',
    finalizers: ['core.rukpak.io/delete-objects', 'example.com/own'],
    labels: { 'applyset.kubernetes.io/id': 'x', team: 'a' },
  };
  client.put(aStoredDeployment({ metadata }));
  return client;
}

test('core’s finalizer and label go, and those of others stay', async () => {
  const client = aClient();
  const lines: string[] = [];
  await returnToRukpak({ client, dryRun: false, print: (line) => void lines.push(line) });
  expect(client.patches).toMatchObject([
    {
      name: 'demo',
      patch: {
        metadata: {
          finalizers: ['example.com/own'],
          labels: { 'applyset.kubernetes.io/id': null },
        },
      },
    },
  ]);
  expect(lines).toEqual(['bundledeployment.core.rukpak.io/demo released']);
});

test.each([false, true])(
  'one that is being deleted stays as it is (dry run: %s)',
  async (dryRun) => {
    const client = aClient();
    const stored = client.peek({ name: 'demo' });
    const lines: string[] = [];
    // Somebody deletes it after it was listed.
    const metadata = { ...stored?.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' };
    const deleted = { ...aStoredDeployment(), metadata };
    if (dryRun) client.put(deleted);
    client.beforeCall = (call) => {
      if (call === 'patch' && client.count('patch') === 1) client.put(deleted);
    };
    await returnToRukpak({ client, dryRun, print: (line) => void lines.push(line) });
    expect(client.peek({ name: 'demo' })?.metadata.finalizers).toEqual(stored?.metadata.finalizers);
    expect(lines).toEqual([
      'bundledeployment.core.rukpak.io/demo is being deleted, and only core deletes its objects: "rukpak install" continues with it',
    ]);
  },
);

test('a dry run changes nothing', async () => {
  const client = aClient();
  const lines: string[] = [];
  await returnToRukpak({ client, dryRun: true, print: (line) => void lines.push(line) });
  expect(client.patches).toEqual([]);
  expect(lines).toEqual(['bundledeployment.core.rukpak.io/demo released (dry run)']);
});
