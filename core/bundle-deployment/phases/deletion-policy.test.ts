import { describe, expect, test } from 'vitest';
import type { Bundle, BundleDeployment } from '../../../api/v1alpha1/index.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  unpackedStatus,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';

const deleteObjects = 'core.rukpak.io/delete-objects';
const deletionTimestamp = '2026-01-01T00:10:00Z';

/** Deleted while deployment `app` depends on it. */
function aDeleted(finalizers: readonly string[], status = {}): BundleDeploymentFixture {
  const metadata = { deletionTimestamp, finalizers: [deleteObjects, ...finalizers] };
  const deployment = aStoredDeployment({ metadata, status: { activeBundle: nameOf(), ...status } });
  const fixture = new BundleDeploymentFixture(deployment);
  const app = aStoredDeployment({ name: 'app' });
  fixture.deployments.upsert({ ...app, spec: { ...app.spec, dependsOn: [{ name: 'demo' }] } });
  return fixture;
}

/** Somebody deletes all Bundles, and then `app`: core goes on. */
async function goesOn(fixture: BundleDeploymentFixture): Promise<string | undefined> {
  const { client, bundles, deployments } = fixture;
  for (const bundle of bundles.list()) {
    client.drop({ name: bundle.metadata.name ?? '' });
    bundles.remove(bundle);
  }
  const app = deployments.get({ name: 'app' });
  if (app !== undefined) deployments.remove(app);
  await fixture.reconcile();
  return fixture.applier.remove.mock.lastCall?.[0].policy;
}

/** The garbage collector has done its work. */
function withoutFinalizer(deployment: BundleDeployment): BundleDeployment {
  const { metadata } = deployment;
  return { ...deployment, metadata: { ...metadata, finalizers: [deleteObjects] } };
}

const orphaned: Bundle = aBundleOf(undefined, unpackedStatus, { ownerReferences: [] });

describe('a deletion with --cascade=orphan', () => {
  test('keeps all also after its Bundles are deleted by hand', async () => {
    const fixture = aDeleted(['orphan']);
    fixture.have(aBundleOf());
    await fixture.reconcile();
    fixture.change(withoutFinalizer(fixture.live));
    fixture.have(orphaned);
    expect(await goesOn(fixture)).toBe('Orphan');
  });

  test('that core sees late keeps all also after its Bundles are deleted by hand', async () => {
    const fixture = aDeleted([]);
    fixture.have(orphaned);
    await fixture.reconcile();
    expect(await goesOn(fixture)).toBe('Orphan');
  });

  test('is noted before the first object is orphaned, and once', async () => {
    const fixture = aDeleted(['orphan']);
    fixture.have(orphaned);
    await fixture.reconcile();
    await fixture.reconcile();
    expect(fixture.client.patches.filter(({ patch }) => 'metadata' in Object(patch))).toEqual([
      expect.objectContaining({
        patch: {
          metadata: {
            uid: fixture.live.metadata.uid,
            annotations: { 'core.rukpak.io/orphan-objects': fixture.live.metadata.uid },
          },
        },
      }),
    ]);
    expect(fixture.applier.remove).not.toHaveBeenCalled();
  });

  test('that cannot be noted orphans nothing yet', async () => {
    const fixture = aDeleted(['orphan']);
    fixture.have(orphaned);
    fixture.client.faults.patch = [new Error('connection refused')];
    expect(await fixture.failure()).toMatchObject({ message: 'connection refused' });
    expect(fixture.applier.remove).not.toHaveBeenCalled();
  });
});

describe('another deletion', () => {
  test('deletes, and notes nothing', async () => {
    const fixture = aDeleted([]);
    fixture.have(aBundleOf());
    await fixture.reconcile();
    expect(fixture.live.metadata.annotations ?? {}).not.toHaveProperty(
      'core.rukpak.io/orphan-objects',
    );
    expect(await goesOn(fixture)).toBe('Delete');
  });

  test('deletes where the note is that of another deployment', async () => {
    const fixture = aDeleted([]);
    const { live } = fixture;
    const annotations = { 'core.rukpak.io/orphan-objects': 'another' };
    fixture.change({ ...live, metadata: { ...live.metadata, annotations } });
    expect(await goesOn(fixture)).toBe('Delete');
  });
});
