import { describe, expect, test } from 'vitest';
import type { KubernetesObject, OwnerReference } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import {
  anOperator,
  chosen,
  ExtensionFixture,
  notChosen,
} from '../../../test/helpers/extension-fixture.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { readRecord } from './bundle-record.ts';

function anOwner(fields: Partial<OwnerReference>): OwnerReference {
  const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'other', uid: 'u', controller: true };
  return { ...owner, ...fields };
}

function foreign(metadata: BundleDeployment['metadata'] = {}): BundleDeployment {
  return aStoredDeployment({ name: 'painter', metadata: { resourceVersion: '50', ...metadata } });
}

describe('a BundleDeployment of that name which belongs to others is left alone', () => {
  test.each([
    [
      'to nobody',
      foreign(),
      'BundleDeployment "painter" exists already and does not belong to this Operator: give the Operator another name, or delete the BundleDeployment, which uninstalls what it has installed',
    ],
    [
      'to another object',
      foreign({ ownerReferences: [anOwner({})] }),
      'BundleDeployment "painter" exists already and belongs to ConfigMap "other": give the Operator another name, or delete the BundleDeployment, which uninstalls what it has installed',
    ],
    [
      'to a ClusterExtension',
      foreign({ ownerReferences: [anOwner({ kind: 'ClusterExtension', name: 'painter' })] }),
      'BundleDeployment "painter" exists already and belongs to ClusterExtension "painter": give the Operator another name, or delete the BundleDeployment, which uninstalls what it has installed',
    ],
    [
      'to an earlier Operator',
      foreign({ ownerReferences: [anOwner({ kind: 'Operator', name: 'painter', uid: 'old' })] }),
      'BundleDeployment "painter" belongs to an earlier Operator of this name. The controller continues when it is deleted: its condition Progressing says what the deletion waits for',
    ],
  ])('%s', async (_, deployment, message) => {
    const fixture = new ExtensionFixture(anOperator());
    fixture.put(deployment);
    await fixture.reconcile();
    expect(fixture.taken()).toEqual(['patch Operator/painter']);
    expect(fixture.condition('Installed')).toBe(`Installed False InstallationFailed: ${message}`);
    fixture.removeDeployment();
    await fixture.reconcile();
    expect(fixture.image).toBe('example.com/painter:1.0.0');
  });
});

test('one that a user has created, and the watch has not shown yet, is not taken over', async () => {
  const fixture = new ExtensionFixture(anOperator());
  const { unseen } = Object.assign(fixture, { unseen: foreign() });
  await expect(fixture.reconcile()).rejects.toThrow('conflict with "kubectl"');
  expect(fixture.deployment).toBeUndefined();
  expect(fixture.condition('Installed')).toContain('Installed False');
  fixture.unseen = undefined;
  fixture.put(unseen);
  await fixture.reconcile();
  expect(fixture.deployment?.metadata.ownerReferences).toBeUndefined();
  expect(fixture.condition('Installed')).toContain('does not belong to this Operator');
});

test('one that is being deleted is created again afterwards', async () => {
  const fixture = new ExtensionFixture(anOperator());
  await fixture.reconcile();
  const { deployment } = fixture;
  if (deployment === undefined) throw new Error('no deployment');
  const deletionTimestamp = '2026-01-01T00:00:00Z';
  const metadata = { ...deployment.metadata, deletionTimestamp, finalizers: ['core'] };
  fixture.put({ ...deployment, metadata });
  await fixture.reconcile();
  expect(fixture.condition('Installed')).toContain('BundleDeployment "painter" is being deleted');
  fixture.removeDeployment();
  await fixture.reconcile();
  expect(fixture.deployment?.metadata.deletionTimestamp).toBeUndefined();
});

test('one that lost its owner in a restore is taken back', async () => {
  const fixture = new ExtensionFixture(anOperator());
  await fixture.reconcile();
  const { deployment } = fixture;
  if (deployment === undefined) throw new Error('no deployment');
  const { ownerReferences: _, ...metadata } = deployment.metadata;
  fixture.put({ ...deployment, metadata });
  await fixture.reconcile();
  expect(fixture.deployment?.metadata.ownerReferences).toHaveLength(1);
});

test.each<[string, (seen: KubernetesObject) => KubernetesObject | undefined]>([
  [
    'is being deleted with --cascade=orphan',
    ({ metadata, ...seen }) => {
      const deletionTimestamp = '2026-01-01T00:00:00Z';
      return { ...seen, metadata: { ...metadata, deletionTimestamp, finalizers: ['orphan'] } };
    },
  ],
  ['is gone', () => undefined],
  [
    'was created again',
    ({ metadata, ...seen }) => ({ ...seen, metadata: { ...metadata, uid: 'new' } }),
  ],
])(
  'one without owner is left alone if the Operator %s, which the watch has not shown yet',
  async (_, live) => {
    const fixture = new ExtensionFixture(anOperator());
    await fixture.reconcile();
    fixture.coreInstalls();
    await fixture.reconcile();
    const { deployment } = fixture;
    if (deployment === undefined) throw new Error('no deployment');
    const { ownerReferences: owners, ...metadata } = deployment.metadata;
    expect(owners).toHaveLength(1);
    fixture.put({ ...deployment, metadata });
    fixture.live = live;
    fixture.taken();
    await fixture.reconcile();
    expect(fixture.taken()).toEqual(['get Operator/painter']);
    expect(fixture.deployment?.metadata).not.toHaveProperty('ownerReferences');
  },
);

test('one of another package that lost its owner is not taken over', async () => {
  const fixture = new ExtensionFixture(anOperator());
  await fixture.reconcile();
  const { deployment } = fixture;
  if (deployment === undefined) throw new Error('no deployment');
  const { ownerReferences: _, ...metadata } = deployment.metadata;
  fixture.changeSpec({ packageName: 'brush', upgradeConstraintPolicy: 'Ignore' });
  fixture.put({ ...deployment, metadata });
  fixture.taken();
  await fixture.reconcile();
  expect(fixture.taken()).toEqual(['patch Operator/painter']);
  expect(fixture.condition('Installed')).toBe(
    'Installed False InstallationFailed: BundleDeployment "painter" exists already and has package "painter", not package "brush" of this Operator: give the Operator another name, or delete the BundleDeployment, which uninstalls package "painter"',
  );
});

test('what is installed is known from the image alone when there is no record', async () => {
  const fixture = new ExtensionFixture(anOperator());
  fixture.choice = notChosen('no package "painter" found');
  const owner = anOwner({ kind: 'Operator', name: 'painter', uid: 'uid-of-painter' });
  fixture.put(foreign({ ownerReferences: [owner] }));
  fixture.coreInstalls();
  await fixture.reconcile();
  expect(fixture.status).toMatchObject({ installedBundleResource: 'example.com/app:v1' });
  expect(fixture.status).not.toHaveProperty('installed');
  expect(fixture.taken()).toEqual(['patch Operator/painter']);
});

describe('the record', () => {
  test('keeps earlier bundles by the name of their Bundle, and not without end', async () => {
    const fixture = new ExtensionFixture(anOperator());
    await fixture.reconcile();
    fixture.coreInstalls();
    const first = fixture.wantedBundle;
    for (let patch = 1; patch <= 30; patch += 1) {
      fixture.choice = chosen(`1.0.${patch}`);
      await fixture.reconcile();
    }
    const record = readRecord(fixture.deployment?.metadata ?? {});
    expect(record?.selected.version).toBe('1.0.30');
    expect(record?.earlier[0]?.version).toBe('1.0.29');
    expect(record?.earlier).toHaveLength(21);
    expect(record?.earlier.at(-1)).toMatchObject({ bundle: first, version: '1.0.0' });
    expect(fixture.status).toMatchObject({ installed: { version: '1.0.0' } });
  });

  test('keeps the bundle that was active last, while the status says nothing', async () => {
    const fixture = new ExtensionFixture(anOperator());
    await fixture.reconcile();
    expect(readRecord(fixture.deployment?.metadata ?? {})?.active).toBeUndefined();
    fixture.coreInstalls();
    await fixture.reconcile();
    const active = { bundle: fixture.wantedBundle, version: '1.0.0' };
    fixture.coreReports({ reason: 'Forged', message: '', activeBundle: '' });
    fixture.choice = chosen('1.1.0');
    await fixture.reconcile();
    expect(readRecord(fixture.deployment?.metadata ?? {})).toMatchObject({
      selected: { version: '1.1.0' },
      active,
    });
    expect(fixture.status).not.toHaveProperty('installed');
    expect(fixture.condition('Installed')).toContain('Installed Unknown');
  });

  test('follows core to a bundle that was replaced before it was seen active', async () => {
    const fixture = new ExtensionFixture(anOperator());
    await fixture.reconcile();
    fixture.coreInstalls();
    await fixture.reconcile();
    fixture.choice = chosen('1.1.0');
    await fixture.reconcile();
    const activeBundle = fixture.wantedBundle;
    fixture.choice = chosen('1.2.0');
    await fixture.reconcile();
    fixture.coreReports({ reason: 'Installing', message: '', activeBundle });
    await fixture.reconcile();
    expect(fixture.status).toMatchObject({ installed: { version: '1.1.0' } });
    expect(readRecord(fixture.deployment?.metadata ?? {})?.active?.bundle).toBe(activeBundle);
  });

  test.each(['', '{', '[]', '{"of":1}', '{"__proto__":{"of":"x"}}'])(
    '%j of a user is none, and is repaired',
    async (value) => {
      const fixture = new ExtensionFixture(anOperator());
      await fixture.reconcile();
      fixture.coreInstalls();
      const { deployment } = fixture;
      if (deployment === undefined) throw new Error('no deployment');
      const annotations = { 'core.rukpak.io/selected-bundle': value };
      fixture.put({ ...deployment, metadata: { ...deployment.metadata, annotations } });
      await fixture.reconcile();
      expect(readRecord(fixture.deployment?.metadata ?? {})?.selected.version).toBe('1.0.0');
      expect(fixture.status).toMatchObject({ installed: { version: '1.0.0' } });
    },
  );
});
