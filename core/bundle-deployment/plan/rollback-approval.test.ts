import { beforeEach, expect, test } from 'vitest';
import type { Bundle } from '../../../api/v1alpha1/index.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  content,
  nameOf,
  objects,
  unpackedStatus,
  v1,
  v2,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { anObject, aTree } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';

let fixture: BundleDeploymentFixture;

/** Version 1 was healthy; version 2 is not in its time, and core has decided to go back. */
beforeEach(async () => {
  const { spec, ...deployment } = aStoredDeployment();
  const manual = { upgradePolicy: 'Manual', rollback: { deadline: '30s' } } as const;
  fixture = new BundleDeploymentFixture({ ...deployment, spec: { ...spec, ...manual } });
  fixture.have(aBundleOf(v1, unpackedStatus, { uid: 'first' }));
  await settle();
  fixture.have(aBundleOf(v2));
  fixture.applier.health.mockReturnValue([{ message: 'sick' }]);
  fixture.changeSpec({ template: v2 });
  await settle();
  expect(fixture.status.activeBundle).toBe(nameOf(v2));
  fixture.clock.advance(30_000);
  await fixture.reconcile();
  expect(fixture.status.rollback).toMatchObject({ from: nameOf(v2), to: nameOf(v1) });
  fixture.applier.apply.mockClear();
});

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) {
    const { requeueAfter } = await fixture.reconcile();
    if (requeueAfter !== 0) return;
  }
  throw new Error('it does not settle');
}

const applied = () => fixture.applier.apply.mock.calls.map(([{ bundle }]) => bundle);
const progressing = () => fixture.conditions.find((text) => text.startsWith('Progressing '));

test('a rollback needs no approval', async () => {
  await settle();
  expect(applied()).toEqual([nameOf(v1)]);
  expect(fixture.status.activeBundle).toBe(nameOf(v1));
});

test('a rollback applies no content that nobody has seen: that of a Bundle made again', async () => {
  fixture.client.drop({ name: nameOf(v1) });
  fixture.bundles.replace([aBundleOf(v2)], '1');
  await settle();
  const again = fixture.client.peek({ name: nameOf(v1) }) as Bundle;
  expect(again.metadata.uid).not.toBe('first');
  const other = aTree({ 'manifests/other.yaml': 'kind: Secret' });
  fixture.load.mockImplementation(async ({ metadata }) =>
    metadata.uid === again.metadata.uid ? other : content,
  );
  fixture.handler.mockImplementation(async (files) =>
    files === other ? [anObject('Secret')] : objects,
  );
  fixture.have({ ...again, status: unpackedStatus });
  await settle();
  expect(applied()).toEqual([]);
  expect(fixture.status.activeBundle).toBe(nameOf(v2));
  expect(progressing()).toContain(
    `AwaitingApproval: Bundle "${nameOf(v1)}", to which core rolls back, was deleted and made again since, ` +
      'so core does not apply it without approval: set spec.template to its template, and approve the plan',
  );
});
