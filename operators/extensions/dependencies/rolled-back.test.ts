import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BundleDeployment, BundleDeploymentStatus } from '../../../api/v1alpha1/index.ts';
import { bundleName, templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ExtensionCluster } from '../../../test/helpers/extension-cluster.ts';
import { anOperator } from '../../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';

const rollbackDeadline = { 'core.rukpak.io/rollback-deadline': '10m' };
const at = '2026-01-01T00:00:00Z';

let contents: FixedContents;
let cluster: ExtensionCluster;

/** Version 1.0.0 requires `db`, and 1.1.0 no longer does: core has both applied, and 1.1.0 is not healthy. */
beforeEach(async () => {
  contents = new FixedContents();
  cluster = new ExtensionCluster(contents, { installsDependencies: true });
  const value = { packageName: 'db', versionRange: '>=1.0.0' };
  const requiring = aPackage({
    name: 'app',
    properties: [{ type: 'olm.package.required', value }],
  });
  const next = aPackage({ name: 'app', versions: ['1.0.0', '1.1.0'] });
  const bundles = [...requiring.bundles, ...next.bundles.slice(1)];
  contents.serve({}, { ...next, bundles }, aPackage({ name: 'db' }));
  const operator = anOperator({ packageName: 'app', version: '1.0.0' }, 'app');
  const metadata = { ...operator.metadata, annotations: rollbackDeadline };
  cluster.put({ ...operator, metadata });
  await cluster.start();
  await eventually(async () => {
    cluster.coreInstalls();
    expect(cluster.condition('Operator', 'app', 'Ready')).toMatch(/^True/);
  });
  const first = deployment();
  const installed = cluster.get('Operator', 'app');
  cluster.put({ ...installed, ...operator, spec: { packageName: 'app' }, metadata });
  await eventually(async () => expect(cluster.image('app')).toBe('example.com/app:1.1.0'));
  coreReports({
    activeBundle: wanted(deployment()),
    progress: { bundle: wanted(deployment()), startedAt: at },
    history: [revision(2, deployment()), { ...revision(1, first), healthyAt: at }],
  });
});

afterEach(async () => {
  await cluster.stop();
});

function deployment(): BundleDeployment {
  return cluster.get('BundleDeployment', 'app') as BundleDeployment;
}

function wanted({ metadata, spec }: BundleDeployment): string {
  return bundleName(metadata.name ?? '', templateHash(spec.template));
}

function revision(number: number, of: BundleDeployment) {
  const { template } = of.spec;
  return { revision: number, bundle: wanted(of), template, appliedAt: at };
}

function coreReports(status: Partial<BundleDeploymentStatus>): void {
  cluster.put({ ...deployment(), status: { ...deployment().status, ...status } });
}

test('what the earlier version requires stays as long as core may roll back to it', async () => {
  await cluster.settled();
  expect(cluster.names('Operator')).toEqual(['app', 'db']);
  const { history: [next, first] = [] } = deployment().status ?? {};
  coreReports({
    activeBundle: first?.bundle ?? '',
    rollback: { at, from: next?.bundle ?? '', to: first?.bundle ?? '', reason: 'not healthy' },
  });
  await eventually(async () => {
    expect(cluster.get('Operator', 'app')?.['status']).toMatchObject({
      installed: { version: '1.0.0' },
    });
  });
  expect(cluster.names('Operator')).toEqual(['app', 'db']);
});

test('it goes once the new version was healthy', async () => {
  const { progress } = deployment().status ?? {};
  coreReports({ progress: { bundle: '', startedAt: at, ...progress, healthyAt: at } });
  await eventually(async () => expect(cluster.names('Operator')).toEqual(['app']));
});
