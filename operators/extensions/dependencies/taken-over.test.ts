import { expect, onTestFinished, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ExtensionCluster } from '../../../test/helpers/extension-cluster.ts';
import { anOperator, ExtensionFixture } from '../../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';

const required = {
  type: 'olm.package.required',
  value: { packageName: 'db', versionRange: '>=1.0.0' },
};

test('a made Operator that a user takes over after the flag is switched off outlives what required it', async () => {
  const contents = new FixedContents();
  contents.serve(
    {},
    aPackage({ name: 'app', properties: [required] }),
    aPackage({ name: 'db', versions: ['1.0.0', '1.1.0'] }),
  );
  const cluster = new ExtensionCluster(contents, { installsDependencies: true });
  onTestFinished(async () => await cluster.stop());
  cluster.put(anOperator({ packageName: 'app' }, 'app'));
  await cluster.start();
  await cluster.settled();
  const made = cluster.get('Operator', 'db') as KubernetesObject;
  expect(made.metadata.ownerReferences).toHaveLength(1);
  await cluster.stop();
  await cluster.start({ installsDependencies: false });
  await cluster.settled();
  expect(cluster.get('Operator', 'db')?.metadata.ownerReferences).toHaveLength(1);
  const managedFields = [{ manager: 'kubectl-edit', fieldsV1: { 'f:spec': { 'f:version': {} } } }];
  const metadata = { ...made.metadata, managedFields } as KubernetesObject['metadata'];
  cluster.put({ ...made, metadata, spec: { packageName: 'db', version: '>=1.0.0' } });
  await eventually(async () => {
    expect(cluster.get('Operator', 'db')?.metadata).toMatchObject({
      labels: {},
      annotations: {},
      ownerReferences: [],
    });
  });
  cluster.remove('Operator', 'app');
  cluster.collectGarbage();
  await cluster.settled();
  expect(cluster.names('Operator')).toEqual(['db']);
});

test('a made Operator that is taken over keeps its CRDs as long as others own it', async () => {
  const { metadata, ...operator } = anOperator();
  const owner = { apiVersion: operator.apiVersion, kind: 'Operator', name: 'app', uid: 'u' };
  const labels = { 'core.rukpak.io/dependency': 'true' };
  const fixture = new ExtensionFixture({
    ...operator,
    metadata: { ...metadata, labels, ownerReferences: [owner] },
  });
  await fixture.reconcile();
  expect(fixture.deployment?.spec.deletionPolicy).toBe('KeepCRDs');
  fixture.change({ ...operator, metadata });
  await fixture.reconcile();
  expect(fixture.deployment?.spec).not.toHaveProperty('deletionPolicy');
});
