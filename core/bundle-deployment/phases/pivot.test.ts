import { describe, expect, test } from 'vitest';
import type { Bundle, BundleDeploymentStatus } from '../../../api/v1alpha1/index.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import {
  aBundleOf,
  BundleDeploymentFixture,
  nameOf,
  v1,
  v2,
  v3,
} from '../../../test/helpers/bundle-deployment-fixture.ts';
import { aStoredDeployment, aTemplate } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';

const at = (minute: number) => ({ creationTimestamp: `2026-01-01T00:0${minute}:00Z` });

/** Installs version 1, then changes the template. */
function anUpgrade(template = v2, reportHealth = true): BundleDeploymentFixture {
  const condition = {
    type: 'Installed',
    status: 'True',
    reason: 'InstallationSucceeded',
    message: `Instantiated bundle ${nameOf(v1)} successfully`,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  const status: BundleDeploymentStatus = { activeBundle: nameOf(v1), conditions: [condition] };
  const deployment = aStoredDeployment({ template, status });
  const fixture = new BundleDeploymentFixture(deployment, { reportHealth });
  fixture.have(aBundleOf(v1, undefined, at(1)));
  return fixture;
}

describe('a Bundle', () => {
  test('has the labels and annotations of the template, our labels and our reference', async () => {
    const metadata = {
      name: 'not-copied',
      namespace: 'not-copied',
      finalizers: ['not/copied'],
      labels: { app: 'x', [label.ownerName]: 'somebody-else' },
      annotations: { note: 'y' },
    };
    const template = aTemplate('example.com/app:v1', metadata);
    const fixture = new BundleDeploymentFixture(aStoredDeployment({ template }));
    await fixture.reconcile();
    const hash = templateHash(template);
    const [bundle] = fixture.bundles.list();
    const { uid: _, resourceVersion: __, ...made } = bundle?.metadata ?? {};
    expect(made).toEqual({
      name: `demo-${hash}`,
      labels: {
        app: 'x',
        'core.rukpak.io/owner-kind': 'BundleDeployment',
        'core.rukpak.io/owner-name': 'demo',
        'core.rukpak.io/bundle-template-hash': hash,
      },
      annotations: { note: 'y' },
      ownerReferences: [
        {
          apiVersion: 'core.rukpak.io/v1alpha1',
          kind: 'BundleDeployment',
          name: 'demo',
          uid: 'uid-of-demo',
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    });
    expect(bundle).toMatchObject({
      apiVersion: 'core.rukpak.io/v1alpha1',
      kind: 'Bundle',
      spec: template.spec,
    });
    expect(fixture.client.calls).toEqual(['create', 'patch']);
  });

  test('has its finalizer from the start where this process unpacks its class', async () => {
    const plain = { className: 'plain' };
    for (const bundleClasses of [new Map([['plain', plain]]), new Map([['other', plain]])]) {
      const fixture = new BundleDeploymentFixture(aStoredDeployment(), { bundleClasses });
      await fixture.reconcile();
      const [bundle] = fixture.bundles.list();
      expect(bundle?.metadata.finalizers).toEqual(
        bundleClasses.has('plain') ? ['core.rukpak.io/delete-cached-bundle'] : undefined,
      );
    }
  });

  test('is made once, even before the watch tells of it', async () => {
    const fixture = new BundleDeploymentFixture();
    await fixture.reconcile();
    const stored = fixture.client.peek({ name: nameOf(v1) }) as Bundle;
    fixture.bundles.remove(stored);
    await fixture.reconcile();
    expect(fixture.status.conditions).toMatchObject([{ reason: 'UnpackPending' }]);
    expect(fixture.bundleNames).toEqual([nameOf(v1)]);
  });

  test('with the labels of one, and other content, is not installed', async () => {
    const fixture = new BundleDeploymentFixture();
    const { metadata } = aBundleOf(v1);
    const forged = { ...aBundleOf(v2), metadata: { ...metadata, name: 'forged' } };
    fixture.have(forged);
    await fixture.reconcile();
    expect(fixture.load).not.toHaveBeenCalled();
    expect(fixture.bundleNames).toContain(nameOf(v1));
  });

  test('of its name and labels, and with other content, makes way', async () => {
    const fixture = new BundleDeploymentFixture();
    fixture.have({ ...aBundleOf(v2), metadata: aBundleOf(v1).metadata });
    await fixture.reconcile();
    expect(fixture.load).not.toHaveBeenCalled();
    expect(fixture.client.peek({ name: nameOf(v1) })?.['spec']).toEqual(aBundleOf(v1).spec);
  });

  test.each<[string, Bundle['metadata']]>([
    ['made by hand', { labels: {} }],
    [
      'of another template',
      { labels: { ...aBundleOf(v1).metadata.labels, [label.templateHash]: 'x' } },
    ],
    [
      'of another deployment',
      { labels: { ...aBundleOf(v1).metadata.labels, [label.ownerName]: 'somebody-else' } },
    ],
    ['that is nobody’s', { labels: { [label.templateHash]: templateHash(v1) } }],
  ])('that is in the way is not taken over: one %s', async (_, metadata) => {
    const fixture = new BundleDeploymentFixture();
    const stranger = fixture.client.put(aBundleOf(v1, undefined, metadata));
    expect(await fixture.failure()).toBeInstanceOf(Error);
    expect(fixture.conditions).toEqual([
      `HasValidBundle Unknown ReconcileFailed: Bundle "${nameOf(v1)}" exists and was not made for this template (owner BundleDeployment "demo" with UID uid-of-demo): delete it, or give the BundleDeployment another name`,
    ]);
    expect(fixture.client.peek({ name: nameOf(v1) })).toEqual(stranger);
    expect(fixture.applier.apply).not.toHaveBeenCalled();
  });

  test.each(['Pending', 'Failing'])(
    'that was active and is %s takes nothing away',
    async (phase) => {
      const fixture = anUpgrade(v1);
      fixture.have(aBundleOf(v1, { phase }, at(1)), aBundleOf(v2, { phase }, at(0)));
      await fixture.reconcile();
      expect(fixture.status.activeBundle).toBe(nameOf(v1));
      expect(fixture.status.conditions).toMatchObject([{ type: 'Installed', status: 'True' }, {}]);
      expect(fixture.bundleNames).toHaveLength(2);
      expect(fixture.applier.apply).not.toHaveBeenCalled();
      expect(fixture.applier.forget).not.toHaveBeenCalled();
    },
  );

  test('that is being deleted is waited for, and made anew', async () => {
    const fixture = anUpgrade(v1);
    const deletionTimestamp = '2026-01-01T00:05:00Z';
    fixture.have(aBundleOf(v1, undefined, { ...at(1), deletionTimestamp }));
    await fixture.reconcile();
    expect(fixture.status.conditions).toMatchObject([
      { type: 'Installed', status: 'True' },
      { type: 'HasValidBundle', status: 'True', reason: 'UnpackPending' },
    ]);
    fixture.client.drop({ name: nameOf(v1) });
    fixture.bundles.replace([], '1');
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([nameOf(v1)]);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
  });
});

describe('a new template', () => {
  test('takes over only when it is unpacked and applied; the old one goes last', async () => {
    const fixture = anUpgrade();
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([nameOf(v1), nameOf(v2)]);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(fixture.conditions).toEqual([
      `Installed True InstallationSucceeded: Instantiated bundle ${nameOf(v1)} successfully`,
      `HasValidBundle True UnpackPending: Waiting for the ${nameOf(v2)} Bundle to be unpacked`,
      'Healthy True Healthy: BundleDeployment is healthy',
    ]);
    fixture.have(aBundleOf(v2, undefined, at(2)));
    fixture.applier.apply.mockImplementation(async () => {
      expect(fixture.bundleNames).toEqual([nameOf(v1), nameOf(v2)]);
      return { changes: 1, complete: true };
    });
    await fixture.reconcile();
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
    expect(fixture.bundleNames).toEqual([nameOf(v2)]);
  });

  test('that cannot be unpacked leaves the installed version in force: its drift is repaired', async () => {
    const fixture = anUpgrade();
    fixture.have(aBundleOf(v2, { phase: 'Failing' }, at(2)));
    await fixture.reconcile();
    expect(fixture.conditions).toEqual([
      `Installed True InstallationSucceeded: Instantiated bundle ${nameOf(v1)} successfully`,
      `HasValidBundle False UnpackFailed: Failed to unpack the ${nameOf(v2)} Bundle: `,
      'Healthy True Healthy: BundleDeployment is healthy',
    ]);
    expect(fixture.load.mock.calls.map(([bundle]) => bundle.metadata.name)).toEqual([nameOf(v1)]);
    expect(fixture.applier.apply).toHaveBeenCalledTimes(1);
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(fixture.bundleNames).toEqual([nameOf(v1), nameOf(v2)]);
  });

  test('that nobody unpacks leaves the installed version in force: its drift is repaired', async () => {
    const fixture = anUpgrade();
    const creationTimestamp = new Date(fixture.clock.now() - 60_000).toISOString();
    fixture.have(aBundleOf(v2, {}, { creationTimestamp }));
    await fixture.reconcile();
    expect(fixture.conditions.join()).toContain(`Waiting for the ${nameOf(v2)} Bundle`);
    expect(fixture.load.mock.calls.map(([bundle]) => bundle.metadata.name)).toEqual([nameOf(v1)]);
    expect(fixture.applier.apply).toHaveBeenCalledTimes(1);
  });

  test('that cannot be applied keeps both Bundles and the active one', async () => {
    const fixture = anUpgrade();
    fixture.have(aBundleOf(v2, undefined, at(2)));
    fixture.applier.apply.mockRejectedValue(new Error('refused'));
    await fixture.failure();
    expect(fixture.conditions[0]).toBe('Installed False UpgradeFailed: refused');
    expect(fixture.status.activeBundle).toBe(nameOf(v1));
    expect(fixture.bundleNames).toEqual([nameOf(v1), nameOf(v2)]);
  });

  test('that is not healthy yet keeps the old Bundle', async () => {
    const fixture = anUpgrade();
    fixture.have(aBundleOf(v2, undefined, at(2)));
    fixture.applier.health.mockReturnValue([{ message: 'InProgress' }]);
    await fixture.reconcile();
    expect(fixture.status.activeBundle).toBe(nameOf(v2));
    expect(fixture.bundleNames).toEqual([nameOf(v1), nameOf(v2)]);
    fixture.applier.health.mockReturnValue([]);
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([nameOf(v2)]);
  });

  test('with the gate off: health does not matter', async () => {
    const fixture = anUpgrade(v2, false);
    fixture.have(aBundleOf(v2, undefined, at(2)));
    fixture.applier.health.mockReturnValue([{ message: 'InProgress' }]);
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([nameOf(v2)]);
  });

  test('first removes Bundles that never became active, and only those', async () => {
    const fixture = anUpgrade(v3);
    fixture.have(aBundleOf(v2, { phase: 'Failing' }, at(2)));
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([nameOf(v1), nameOf(v3)]);
  });

  test('deletes all earlier Bundles if none was ever active', async () => {
    const fixture = new BundleDeploymentFixture(aStoredDeployment({ template: v3 }));
    fixture.have(aBundleOf(v1, { phase: 'Failing' }, at(1)));
    fixture.have(aBundleOf(v2, { phase: 'Failing' }, at(2)));
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([nameOf(v3)]);
  });

  test('keeps the last healthy version where the active one is not healthy', async () => {
    const fixture = anUpgrade();
    fixture.have(aBundleOf(v2, undefined, at(2)));
    fixture.applier.health.mockReturnValue([{ message: 'InProgress' }]);
    await fixture.reconcile();
    fixture.changeSpec({ template: v3 });
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([nameOf(v1), nameOf(v2), nameOf(v3)]);
    fixture.have(aBundleOf(v3, undefined, at(3)));
    fixture.applier.health.mockReturnValue([]);
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([nameOf(v3)]);
  });

  test('that is the old one again applies the old Bundle, and removes the new one', async () => {
    const fixture = anUpgrade(v1);
    fixture.have(aBundleOf(v2, { phase: 'Failing' }, at(2)));
    await fixture.reconcile();
    expect(fixture.load.mock.calls[0]?.[0].metadata.name).toBe(nameOf(v1));
    expect(fixture.bundleNames).toEqual([nameOf(v1)]);
  });

  test('does not change Bundles of other deployments', async () => {
    const fixture = anUpgrade();
    const stranger = {
      labels: { [label.ownerKind]: 'BundleDeployment', [label.ownerName]: 'other' },
    };
    const foreign = aBundleOf(v3, undefined, { ...at(2), ...stranger });
    fixture.have(foreign, aBundleOf(v2, undefined, at(2)));
    await fixture.reconcile();
    expect(fixture.bundleNames).toEqual([nameOf(v3), nameOf(v2)]);
  });
});

describe('deleting old Bundles', () => {
  test('that fails is tried again, and no condition', async () => {
    const fixture = anUpgrade();
    fixture.have(aBundleOf(v2, undefined, at(2)));
    fixture.client.faults.delete = [new Error('denied')];
    expect(await fixture.failure()).toEqual(new Error('failed to delete old bundles: denied'));
    expect(fixture.status).toMatchObject({
      activeBundle: nameOf(v2),
      conditions: [
        { type: 'Installed', status: 'True' },
        { type: 'HasValidBundle', status: 'True' },
        { type: 'Healthy', status: 'True' },
      ],
    });
    expect(await fixture.failure()).toBeUndefined();
    expect(fixture.bundleNames).toEqual([nameOf(v2)]);
  });

  test('that are gone, or were made again, is no failure', async () => {
    const fixture = anUpgrade();
    fixture.have(aBundleOf(v2, undefined, at(2)));
    const notFound = new ApiError(404, { reason: 'NotFound' });
    fixture.client.faults.delete = [notFound];
    expect(await fixture.failure()).toBeUndefined();
    const again = anUpgrade();
    again.have(aBundleOf(v2, undefined, at(2)));
    again.client.drop({ name: nameOf(v1) });
    again.client.put(aBundleOf(v1, undefined, { uid: 'another' }));
    expect(await again.failure()).toBeUndefined();
    expect(again.bundleNames).toContain(nameOf(v1));
  });

  test('that are being deleted is not asked for again', async () => {
    const fixture = anUpgrade();
    const deletionTimestamp = '2026-01-01T00:05:00Z';
    fixture.have(aBundleOf(v1, undefined, { ...at(1), deletionTimestamp }));
    fixture.have(aBundleOf(v2, undefined, at(2)));
    await fixture.reconcile();
    expect(fixture.client.count('delete')).toBe(0);
  });
});

test('a change of the config alone renders the same Bundle again', async () => {
  const fixture = anUpgrade(v1);
  await fixture.reconcile();
  fixture.changeSpec({ config: { values: 'size: 2' } });
  await fixture.reconcile();
  expect(fixture.handler.mock.lastCall?.[1].spec.config).toEqual({ values: 'size: 2' });
  expect(fixture.applier.apply).toHaveBeenCalledTimes(2);
  expect(fixture.bundleNames).toEqual([nameOf(v1)]);
  expect(fixture.status.observedGeneration).toBe(2);
  expect(fixture.client.count('create')).toBe(0);
});
