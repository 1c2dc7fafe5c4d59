import { afterEach, beforeEach, expect, test } from 'vitest';
import { ApiError } from '../../../core/controller.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ExtensionCluster } from '../../../test/helpers/extension-cluster.ts';
import { anOperator } from '../../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';

let contents: FixedContents;
let cluster: ExtensionCluster;

const db = aPackage({ name: 'db' });
const required = {
  type: 'olm.package.required',
  value: { packageName: 'db', versionRange: '>=1.0.0' },
};
const app = aPackage({ name: 'app', properties: [required] });

beforeEach(async () => {
  contents = new FixedContents();
  cluster = new ExtensionCluster(contents, { installsDependencies: true });
  contents.serve({}, app, db);
  cluster.put(anOperator({ packageName: 'app' }, 'app'));
});

afterEach(async () => {
  await cluster.stop();
});

/** As the API server words it. */
function lacks(verb: string): ApiError {
  const user = 'system:serviceaccount:rukpak-system:rukpak-operators';
  const message = `operators.operators.operatorframework.io "db" is forbidden: User "${user}" cannot ${verb} resource "operators" in API group "operators.operatorframework.io" at the cluster scope`;
  return new ApiError(403, { message, reason: 'Forbidden', code: 403 });
}

function refuse(verb: string, error: ApiError): void {
  cluster.refuses = (request) =>
    request.kind === 'Operator' && request.verb === verb ? error : undefined;
}

const condition = () => cluster.condition('Operator', 'app', 'DependenciesSatisfied');
const cure =
  'Component install-dependencies of deploy/ grants it (of the chart: operators.installDependencies=true).';

test('without permission to create Operators, the condition names it and what grants it', async () => {
  refuse('create', lacks('create'));
  await cluster.start();
  await eventually(async () => {
    expect(condition()).toBe(
      `False DependencyMissing: bundle "app.v1.0.0" requires package "db" in version range ">=1.0.0": Operator "db" was not created: user "system:serviceaccount:rukpak-system:rukpak-operators" lacks permission to create operators.operators.operatorframework.io. ${cure}`,
    );
  });
  expect(cluster.names('Operator')).toEqual(['app']);
  expect(cluster.image('app')).toBeUndefined();
  cluster.refuses = () => undefined;
  await eventually(async () => {
    cluster.coreInstalls();
    expect(condition()).toMatch(/^True Satisfied/);
  });
});

test('another refusal has the words of the API server', async () => {
  const message = 'admission webhook "quota.example.com" denied the request: no more operators';
  refuse('create', new ApiError(403, { message, code: 403 }));
  await cluster.start();
  await eventually(async () => {
    expect(condition()).toContain(`Operator "db" was not created: ${message}`);
  });
});

test('without permission to delete Operators, one Event on the made Operator says so', async () => {
  await cluster.start();
  await eventually(async () => {
    cluster.coreInstalls();
    expect(condition()).toMatch(/^True Satisfied/);
  });
  refuse('delete', lacks('delete'));
  contents.serve({}, aPackage({ name: 'app' }), db);
  await eventually(async () => {
    expect(cluster.taken().filter((each) => each === 'delete Operator/db').length).toBeGreaterThan(
      1,
    );
  });
  const warnings = cluster.events.list.filter(({ reason }) => reason === 'DependencyNotDeleted');
  expect(warnings.map(({ message }) => message)).toEqual([
    `Nothing that is installed requires this Operator any more. Operator "db" was not deleted: user "system:serviceaccount:rukpak-system:rukpak-operators" lacks permission to delete operators.operators.operatorframework.io. ${cure}`,
  ]);
  cluster.refuses = () => undefined;
  await eventually(async () => expect(cluster.names('Operator')).toEqual(['app']));
});

test('an Operator that cannot be released keeps no other one from its dependencies', async () => {
  const metadata = { labels: { 'core.rukpak.io/dependency': 'true' } };
  const taken = ['taken-1', 'taken-2'].map((name) => {
    const operator = anOperator({ packageName: 'db' }, name);
    return { ...operator, metadata: { ...operator.metadata, ...metadata } };
  });
  contents.serve({}, app, db, aPackage({ name: 'other' }));
  const message = 'admission webhook "policy.example.com" denied the request: no label team';
  cluster.refuses = ({ verb, kind, name }) =>
    verb === 'patch' && kind === 'Operator' && name === 'taken-1'
      ? new ApiError(403, { message, code: 403 })
      : undefined;
  cluster.put(...taken.map((each) => ({ ...each, spec: { packageName: 'other' } })));
  await cluster.start();
  await eventually(async () => {
    cluster.coreInstalls();
    expect(condition()).toMatch(/^True Satisfied/);
    expect(cluster.get('Operator', 'taken-2')?.metadata.labels ?? {}).toEqual({});
  });
  expect(cluster.get('Operator', 'taken-1')?.metadata.labels).toEqual(metadata.labels);
  cluster.refuses = () => undefined;
  await eventually(async () => {
    expect(cluster.get('Operator', 'taken-1')?.metadata.labels ?? {}).toEqual({});
  });
});
