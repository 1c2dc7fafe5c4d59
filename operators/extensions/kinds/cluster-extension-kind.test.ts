import { describe, expect, test } from 'vitest';
import type { ClusterExtension } from '../../../api/olm/v1/index.ts';
import {
  aCatalogBundle,
  aClusterExtension,
  chosen,
  ExtensionFixture,
  notChosen,
} from '../../../test/helpers/extension-fixture.ts';

async function reconciled(object = aClusterExtension()): Promise<ExtensionFixture> {
  const fixture = new ExtensionFixture(object);
  await fixture.reconcile();
  return fixture;
}

async function installed(): Promise<ExtensionFixture> {
  const fixture = await reconciled();
  fixture.coreInstalls();
  await fixture.reconcile();
  fixture.taken();
  return fixture;
}

describe('the texts of operator-controller', () => {
  test('nothing is found, and nothing is installed', async () => {
    const fixture = new ExtensionFixture(aClusterExtension());
    fixture.choice = notChosen('no bundles found for package "painter"');
    await fixture.reconcile();
    expect(fixture.conditions.slice(0, 6)).toEqual([
      'Installed False Failed: No bundle installed',
      'Progressing True Retrying: no bundles found for package "painter"',
      'Deprecated Unknown DeprecationStatusUnknown: deprecation status unknown: catalog data unavailable',
      'PackageDeprecated Unknown DeprecationStatusUnknown: deprecation status unknown: catalog data unavailable',
      'ChannelDeprecated Unknown DeprecationStatusUnknown: deprecation status unknown: catalog data unavailable',
      'BundleDeprecated Unknown Absent: no bundle installed yet',
    ]);
  });

  test('a rollout that has begun', async () => {
    const fixture = await reconciled();
    expect(fixture.conditions.slice(0, 2)).toEqual([
      'Installed False Absent: No bundle installed',
      'Progressing True RollingOut: Core has not reconciled the BundleDeployment yet.',
    ]);
  });

  test('the desired state', async () => {
    const fixture = await installed();
    expect(fixture.conditions.slice(0, 6)).toEqual([
      'Installed True Succeeded: Installed bundle example.com/painter:1.0.0 successfully',
      'Progressing True Succeeded: Desired state reached',
      'Deprecated False NotDeprecated: not deprecated',
      'PackageDeprecated False NotDeprecated: package not deprecated',
      'ChannelDeprecated False NotDeprecated: channel not deprecated',
      'BundleDeprecated False NotDeprecated: bundle not deprecated',
    ]);
    expect(fixture.status['install']).toEqual({
      bundle: { name: 'painter.v1.0.0', version: '1.0.0' },
    });
  });

  test.each([
    ['Reconciling', 'InstallFailed', 'denied', 'True Retrying'],
    ['Stalled', 'UnpackFailed', 'no manifests', 'False Blocked'],
    ['Stalled', 'ProgressDeadlineExceeded', 'too late', 'False ProgressDeadlineExceeded'],
    [
      'Reconciling',
      'ReconcileFailed',
      'parse deployment config: spec.config.env is a number',
      'False InvalidConfiguration',
    ],
  ] as const)('core is %s because of %s', async (...[outlook, reason, message, expected]) => {
    const fixture = await reconciled();
    fixture.coreReports({ outlook, reason, message });
    await fixture.reconcile();
    expect(fixture.condition('Progressing')).toBe(
      `Progressing ${expected}: error for resolved bundle "painter.v1.0.0" with version "1.0.0": ${message}`,
    );
    expect(fixture.condition('Installed')).toBe('Installed False Failed: No bundle installed');
  });

  test('a bundle whose name or version the API server would refuse leaves the status readable', async () => {
    const fixture = await reconciled();
    const bundle = { ...aCatalogBundle('1.0.0'), name: 'Painter.V1' };
    fixture.choice = chosen('1.0.0', { bundle });
    await fixture.reconcile();
    fixture.coreInstalls();
    await fixture.reconcile();
    expect(fixture.condition('Installed')).toContain('True Succeeded');
    expect(fixture.status).not.toHaveProperty('install');
  });
});

test('deprecations of the package, the requested channels and the installed bundle', async () => {
  const fixture = new ExtensionFixture(aClusterExtension({ channels: ['stable'] }));
  const deprecations = [
    { schema: 'olm.package', name: '', message: 'use brush' },
    { schema: 'olm.channel', name: 'stable', message: 'stable ends' },
    { schema: 'olm.channel', name: 'beta', message: 'beta ends' },
    { schema: 'olm.bundle', name: 'painter.v1.0.0', message: 'has a leak' },
    { schema: 'olm.bundle', name: 'painter.v0.9.0', message: 'is old' },
  ] as const;
  fixture.choice = chosen('1.0.0', { deprecations });
  await fixture.reconcile();
  expect(fixture.condition('BundleDeprecated')).toBe(
    'BundleDeprecated Unknown Absent: no bundle installed yet',
  );
  fixture.coreInstalls();
  await fixture.reconcile();
  expect(fixture.conditions.filter((each) => each.includes('Deprecated '))).toEqual([
    'Deprecated True Deprecated: use brush\nstable ends\nhas a leak',
    'PackageDeprecated True Deprecated: use brush',
    'ChannelDeprecated True Deprecated: stable ends',
    'BundleDeprecated True Deprecated: has a leak',
  ]);
  expect(fixture.events.taken()).toContain(
    'Warning Deprecated: use brush\nstable ends\nhas a leak',
  );
});

test('a wait for the content of a catalog is a condition, and no Event', async () => {
  const fixture = new ExtensionFixture(aClusterExtension());
  const message = 'Waiting for the content of ClusterCatalog "x".';
  fixture.choice = { kind: 'pending', message };
  await fixture.reconcile();
  expect(fixture.condition('Progressing')).toBe(`Progressing True Retrying: ${message}`);
  expect(fixture.events.taken()).toEqual([]);
});

test('a first rollout has not failed while a catalog has not been looked at', async () => {
  const fixture = await reconciled();
  fixture.taken();
  fixture.choice = { kind: 'pending', message: 'Waiting for the content of ClusterCatalog "x".' };
  await fixture.reconcile();
  expect(fixture.taken()).toEqual([]);
  expect(fixture.condition('Installed')).toBe('Installed False Absent: No bundle installed');
});

test('a new spec is not ready while a catalog has not been looked at', async () => {
  const fixture = await installed();
  const message = 'Waiting for the content of ClusterCatalog "x".';
  fixture.choice = { kind: 'pending', message };
  await fixture.reconcile();
  expect(fixture.taken()).toEqual([]);
  fixture.changeSpec({ progressDeadlineMinutes: 20 });
  for (const _ of ['once', 'again']) {
    await fixture.reconcile();
    expect(fixture.condition('Ready')).toBe(`Ready False CatalogPending: ${message}`);
    expect(fixture.condition('Progressing')).toBe(`Progressing True Retrying: ${message}`);
    fixture.coreInstalls();
  }
  fixture.choice = chosen('1.0.0');
  await fixture.reconcile();
  expect(fixture.condition('Ready')).toContain('Ready True');
});

test('the BundleDeployment has what the spec says of the installation', async () => {
  const spec = {
    serviceAccount: { name: 'installer' },
    config: {
      configType: 'Inline',
      inline: { watchNamespace: 'walls', deploymentConfig: { env: [{ name: 'A', value: 'b' }] } },
    },
    install: { preflight: { crdUpgradeSafety: { enforcement: 'None' } } },
    progressDeadlineMinutes: 10,
  };
  const { metadata, ...object } = aClusterExtension({}, spec);
  const annotations = { 'core.rukpak.io/rollback-deadline': '5m' };
  const fixture = await reconciled({ ...object, metadata: { ...metadata, annotations } });
  expect(fixture.deployment?.spec).toMatchObject({
    installNamespace: 'painters',
    serviceAccount: { namespace: 'painters', name: 'installer' },
    config: {
      installNamespace: 'painters',
      watchNamespace: 'walls',
      env: [{ name: 'A', value: 'b' }],
      crdUpgradeSafety: 'None',
    },
    health: { progressDeadline: '10m' },
    rollback: { deadline: '5m' },
  });
});

test('a field that the spec no longer has is taken off, and those of others stay', async () => {
  const fixture = await reconciled(aClusterExtension({}, { progressDeadlineMinutes: 10 }));
  fixture.coreInstalls();
  await fixture.reconcile();
  const { deployment } = fixture;
  if (deployment === undefined) throw new Error('no deployment');
  fixture.put({ ...deployment, spec: { ...deployment.spec, paused: true } });
  fixture.taken();
  await fixture.reconcile();
  expect(fixture.taken()).toEqual([]);
  fixture.changeSpec({ progressDeadlineMinutes: undefined });
  await fixture.reconcile();
  expect(fixture.taken()).toContain('apply BundleDeployment/painter');
});

test('one that has lost its spec keeps the namespace and the account of what is installed', async () => {
  const fixture = await reconciled(
    aClusterExtension({}, { serviceAccount: { name: 'installer' } }),
  );
  fixture.coreInstalls();
  await fixture.reconcile();
  const { spec: _, ...object } = fixture.object as ClusterExtension;
  fixture.change({ ...object, metadata: { ...object.metadata, generation: 2 } });
  fixture.choice = notChosen('no bundles found for package ""');
  fixture.taken();
  await fixture.reconcile();
  expect(fixture.taken()).toEqual(['patch ClusterExtension/painter']);
  expect(fixture.deployment?.spec).toMatchObject({
    installNamespace: 'painters',
    serviceAccount: { namespace: 'painters', name: 'installer' },
  });
});

test('one that is created again with another namespace does not move what is installed', async () => {
  const fixture = await installed();
  const { deployment } = fixture;
  if (deployment === undefined) throw new Error('no deployment');
  const { ownerReferences: _, annotations, ...metadata } = deployment.metadata;
  const noted = { ...annotations, 'core.rukpak.io/install-namespace': 'painter:painters' };
  fixture.put({ ...deployment, metadata: { ...metadata, annotations: noted } });
  fixture.changeSpec({ namespace: 'studio' });
  await fixture.reconcile();
  expect(fixture.taken()).toEqual(['patch ClusterExtension/painter']);
  expect(fixture.condition('Ready')).toBe(
    'Ready False InstallationFailed: BundleDeployment "painter" is installed in namespace "painters", and the controller does not move it to "studio": delete the ClusterExtension with --cascade=orphan, and create it with spec.namespace "painters"; or delete the BundleDeployment, which uninstalls package "painter"',
  );
  fixture.changeSpec({ namespace: 'painters' });
  await fixture.reconcile();
  expect(fixture.deployment?.metadata.ownerReferences).toHaveLength(1);
});
