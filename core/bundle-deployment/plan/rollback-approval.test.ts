import { beforeEach, describe, expect, test } from 'vitest';
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
import { errorMessage, TerminalError } from '../../errors.ts';

let fixture: BundleDeploymentFixture;

/** Version 1 is healthy. */
beforeEach(async () => {
  const { spec, ...deployment } = aStoredDeployment();
  const manual = { upgradePolicy: 'Manual', rollback: { deadline: '30s' } } as const;
  fixture = new BundleDeploymentFixture({ ...deployment, spec: { ...spec, ...manual } });
  fixture.handler.mockImplementation(async (_, { spec: { config = {} } }, { inputs: [input] }) => [
    { ...anObject('ConfigMap'), data: { ...config, ...(input && { size: String(input) }) } },
  ]);
  fixture.have(aBundleOf(v1, unpackedStatus, { uid: 'first' }));
  await settle();
});

/** Version 2 is not healthy in its time, and core has decided to go back. */
async function rollBack(): Promise<void> {
  fixture.have(aBundleOf(v2));
  fixture.applier.health.mockReturnValue([{ message: 'sick' }]);
  fixture.changeSpec({ template: v2 });
  await settle();
  expect(fixture.status.activeBundle).toBe(nameOf(v2));
  fixture.clock.advance(30_000);
  await fixture.reconcile();
  expect(fixture.status.rollback).toMatchObject({ from: nameOf(v2), to: nameOf(v1) });
  fixture.applier.apply.mockClear();
}

/** Version 2 came with another config, and the API server refuses one of its objects. */
async function rollBackPart(): Promise<void> {
  fixture.have(aBundleOf(v2));
  fixture.applier.apply.mockImplementation(async ({ bundle }) => {
    if (bundle === nameOf(v2)) throw new TerminalError('refused');
    return { changes: 1, complete: true };
  });
  fixture.changeSpec({ template: v2, config: { size: '2' } });
  expect(await settle().catch(errorMessage)).toBe('refused');
  fixture.clock.advance(90_000);
  expect(await fixture.failure()).toMatchObject({ message: 'refused' });
  expect(fixture.status.activeBundle).toBe(nameOf(v1));
  expect(fixture.status.rollback).toMatchObject({ from: nameOf(v2), to: nameOf(v1) });
  fixture.applier.apply.mockClear();
}

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
  await rollBack();
  await settle();
  expect(applied()).toEqual([nameOf(v1)]);
  expect(fixture.status.activeBundle).toBe(nameOf(v1));
});

test('a rollback applies no content that nobody has seen: that of a Bundle made again', async () => {
  await rollBack();
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

describe('from a Bundle that was applied in part, with another config,', () => {
  beforeEach(rollBackPart);

  test('a rollback needs no approval either: the config is approved, and so was the Bundle', async () => {
    await settle();
    expect(applied()).toEqual([nameOf(v1)]);
    expect(fixture.applier.apply.mock.calls[0]?.[0].objects).toEqual([
      { ...anObject('ConfigMap'), data: { size: '2' } },
    ]);
    expect(progressing()).toContain('Progressing False RolledBack: ');
  });

  test('an input that changes after the rollback needs one', async () => {
    await settle();
    fixture.facts.prepare.mockResolvedValue({
      version: 'later',
      read: async () => ({ inputs: [Buffer.from('3')] }),
    });
    await settle();
    const sizes = fixture.applier.apply.mock.calls.map(([{ objects }]) => objects[0]?.['data']);
    expect(new Set(sizes.map((data) => JSON.stringify(data)))).toEqual(new Set(['{"size":"2"}']));
  });

  test('a config that nobody has approved stops it in a process that does not know the earlier one, and core says so', async () => {
    const { live, client } = fixture;
    fixture = new BundleDeploymentFixture(live);
    fixture.have(...(client.everything.filter(({ kind }) => kind === 'Bundle') as Bundle[]));
    fixture.changeSpec({ config: { size: '4' } });
    await settle();
    expect(applied()).toEqual([]);
    expect(progressing()).toBe(
      `Progressing False AwaitingApproval: core does not roll back to Bundle "${nameOf(v1)}", because nobody has approved the class and config that BundleDeployment "demo" has now: ` +
        'restore spec.provisionerClassName and spec.config, or set spec.template to the template of that Bundle, and approve the plan',
    );
  });
});
