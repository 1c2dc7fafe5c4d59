import { describe, expect, test } from 'vitest';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { TerminalError } from '../../errors.ts';

const failing = { phase: 'Failing' } as const;

/** Installs version 1, then deletes its Bundle and keeps its content. */
async function gone(): Promise<{ readonly fixture: BundleDeploymentFixture; kept: Bundle }> {
  const fixture = new BundleDeploymentFixture();
  const kept = aBundleOf(v1, { phase: 'Unpacked' }, { uid: 'first' });
  fixture.have(kept);
  await fixture.reconcile();
  expect(fixture.status).toMatchObject({ activeBundle: nameOf(v1), applied: { uid: 'first' } });
  fixture.client.drop({ name: nameOf(v1) });
  fixture.bundles.remove(kept);
  fixture.kept = kept;
  fixture.applier.apply.mockClear();
  fixture.load.mockClear();
  return { fixture, kept };
}

/** Applies everything again; version 1 is still installed. */
async function expectRepair(fixture: BundleDeploymentFixture): Promise<void> {
  await fixture.failure();
  expect(fixture.applier.apply).toHaveBeenCalledTimes(1);
  expect(fixture.status).toMatchObject({ activeBundle: nameOf(v1), applied: { uid: 'first' } });
}

describe('what is installed is repaired while its Bundle is gone and', () => {
  test('the one that was made in its place cannot be fetched', async () => {
    const { fixture } = await gone();
    fixture.have(aBundleOf(v1, failing, { uid: 'second' }));
    await expectRepair(fixture);
  });

  test('nor can that of the next version', async () => {
    const { fixture } = await gone();
    fixture.changeSpec({ template: v2 });
    fixture.have(aBundleOf(v2, failing, { uid: 'second' }));
    await expectRepair(fixture);
  });

  test('the process that has applied it is gone as well', async () => {
    const { fixture, kept } = await gone();
    const later = new BundleDeploymentFixture(fixture.live);
    later.kept = kept;
    later.have(aBundleOf(v1, failing, { uid: 'second' }));
    await expectRepair(later);
    expect(later.load.mock.calls).toEqual([[kept, expect.anything()]]);
  });

  test('nothing can be made of the one that was fetched in its place', async () => {
    const { fixture } = await gone();
    const second = aBundleOf(v1, { phase: 'Unpacked' }, { uid: 'second' });
    fixture.have(second);
    fixture.load.mockImplementation(async ({ metadata }) => {
      if (metadata.uid === 'second') throw new TerminalError('manifests/a.yaml: not YAML');
      return { files: new Map(), directories: new Set() };
    });
    await expectRepair(fixture);
  });
});

test('a Bundle in its place that is unpacked takes over', async () => {
  const { fixture } = await gone();
  fixture.have(aBundleOf(v1, { phase: 'Unpacked' }, { uid: 'second' }));
  await fixture.reconcile();
  expect(fixture.status).toMatchObject({ activeBundle: nameOf(v1), applied: { uid: 'second' } });
});

test('a Bundle that is not the deployment’s own is not what is installed', async () => {
  const { fixture, kept } = await gone();
  const { ownerReferences: _, ...metadata } = kept.metadata;
  fixture.kept = { ...kept, metadata };
  fixture.have(aBundleOf(v1, failing, { uid: 'second' }));
  await fixture.failure();
  expect(fixture.applier.apply).not.toHaveBeenCalled();
});
