import { beforeEach, describe, expect, test } from 'vitest';
import { annotation } from '../../../api/v1alpha1/labels.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  content,
  nameOf,
  objects,
  unpackedStatus,
  v1,
  v2,
  v3,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { anObject, aTree } from '../../../test/helpers/registry-bundle.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';

let fixture: BundleDeploymentFixture;

/** Version 1 is installed; version 2 is approved, and its first apply has failed. */
beforeEach(async () => {
  const deployment = aStoredDeployment({ template: v2, status: { activeBundle: nameOf(v1) } });
  fixture = new BundleDeploymentFixture({
    ...deployment,
    spec: { ...deployment.spec, upgradePolicy: 'Manual' },
  });
  fixture.have(made(v1), made(v2));
  fixture.applier.plan.mockResolvedValue({
    digest: 'd1',
    changes: [{ action: 'Create', group: '', kind: 'ConfigMap', namespace: 'n', name: 'a' }],
    unchanged: 0,
    problems: [],
    warnings: [],
  });
  await fixture.reconcile();
  approve();
  await fixture.reconcile();
  fixture.applier.apply.mockRejectedValueOnce(new Error('a policy says no'));
  await fixture.failure();
  expect(fixture.status).toMatchObject({
    activeBundle: nameOf(v1),
    applied: { begun: nameOf(v2) },
    approval: { bundle: nameOf(v2) },
  });
  fixture.load.mockClear();
  fixture.applier.apply.mockClear();
  fixture.applier.plan.mockClear();
});

function made(template: typeof v1, uid = nameOf(template)) {
  return aBundleOf(template, unpackedStatus, { uid, creationTimestamp: '2026-01-01T00:00:00Z' });
}

function approve(): void {
  const { live } = fixture;
  const annotations = {
    ...live.metadata.annotations,
    [annotation.approve]: live.status?.plan?.digest ?? '',
  };
  fixture.change({ ...live, metadata: { ...live.metadata, annotations } });
}

/** Somebody deletes the Bundle, and core makes it again, with these objects. */
function madeAgain(rendered = objects): void {
  fixture.client.drop({ name: nameOf(v2) });
  fixture.have(made(v2, 'again'));
  load(rendered);
}

/** A content of its own for the Bundle that is made again. */
function load(rendered: typeof objects): void {
  const again = aTree({ 'manifests/again.yaml': 'kind: ConfigMap' });
  fixture.load.mockImplementation(async ({ metadata }) =>
    metadata.uid === 'again' ? again : content,
  );
  fixture.handler.mockImplementation(async (files) => (files === again ? rendered : objects));
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

const partly =
  `Bundle "${nameOf(v2)}" is applied in part: until the approval core neither continues nor goes back to Bundle "${nameOf(v1)}". ` +
  'To go back, set spec.template to its earlier value';

describe('an approved upgrade that is applied in part', () => {
  test('goes on where its Bundle is made again with the same content', async () => {
    madeAgain();
    await settle();
    expect(applied()).toEqual([nameOf(v2)]);
    expect(fixture.applier.plan).not.toHaveBeenCalled();
    expect(fixture.status).toMatchObject({
      activeBundle: nameOf(v2),
      approval: { bundle: nameOf(v2), uid: 'again', digest: expect.any(String) },
    });
    await settle();
    expect(progressing()).toBeUndefined();
  });

  test('goes on in a process that only knows the status', async () => {
    madeAgain();
    fixture = new BundleDeploymentFixture(fixture.live);
    fixture.have(made(v1), made(v2, 'again'));
    load(objects);
    await settle();
    expect(applied()).toEqual([nameOf(v2)]);
    expect(fixture.applier.plan).not.toHaveBeenCalled();
  });

  test('stays where it is while its Bundle has other content, and says so', async () => {
    madeAgain([anObject('Secret')]);
    await settle();
    await settle();
    expect(applied()).toEqual([]);
    expect(progressing()).toContain('Progressing False AwaitingApproval: the plan of Bundle');
    expect(progressing()).toContain(`. ${partly}`);
    approve();
    await settle();
    expect(applied()).toEqual([nameOf(v2)]);
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
  });

  test('stays where it is while no plan can be made, and says so', async () => {
    madeAgain([anObject('Secret')]);
    fixture.applier.plan.mockRejectedValue(new Error('connection refused'));
    await settle();
    expect(applied()).toEqual([]);
    expect(progressing()).toContain(`connection refused. ${partly}`);
  });

  test('stays where it is while another config waits', async () => {
    fixture.handler.mockImplementation(async (_, { spec: { config } }) =>
      config === undefined ? objects : [anObject('Secret')],
    );
    fixture.changeSpec({ config: { size: 2 } });
    await settle();
    expect(applied()).toEqual([]);
    expect(progressing()).toContain(partly);
  });

  test('is reverted by the earlier template', async () => {
    madeAgain([anObject('Secret')]);
    await settle();
    fixture.changeSpec({ template: v1 });
    await settle();
    expect(applied()).toEqual([nameOf(v1)]);
    expect(progressing()).toBeUndefined();
  });

  test('gives way to the active Bundle while another template waits', async () => {
    fixture.have(made(v3));
    fixture.changeSpec({ template: v3 });
    await settle();
    expect(applied()).toEqual([nameOf(v1)]);
    expect(progressing()).toContain('AwaitingApproval');
    expect(progressing()).not.toContain('applied in part');
  });
});
