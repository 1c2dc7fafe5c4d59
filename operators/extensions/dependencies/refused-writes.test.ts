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

/** `app` is installed with `db`, and the catalog has another package that requires it. */
async function installed(): Promise<void> {
  contents.serve({}, app, db, other);
  await cluster.start();
  await eventually(async () => {
    cluster.coreInstalls();
    expect(condition()).toMatch(/^True Satisfied/);
  });
}

const other = aPackage({ name: 'other', properties: [required] });
const ofOther = () => cluster.condition('Operator', 'other', 'DependenciesSatisfied');

function refuseUpdate(name: string, error: ApiError): void {
  cluster.refuses = (request) =>
    request.kind === 'Operator' && request.verb === 'patch' && request.name === name
      ? error
      : undefined;
}

async function otherIsInstalledIn(end: () => void): Promise<void> {
  expect(cluster.image('other')).toBeUndefined();
  cluster.refuses = () => undefined;
  end();
  await eventually(async () => {
    cluster.coreInstalls();
    expect(ofOther()).toMatch(/^True Satisfied/);
    expect(cluster.image('other')).toBeDefined();
  });
  cluster.remove('Operator', 'app');
  cluster.collectGarbage();
  expect(cluster.names('Operator')).toContain('db');
}

test('nothing is installed before what it requires names it: it would go with its other owner', async () => {
  await installed();
  const message = 'admission webhook "policy.example.com" denied the request: frozen';
  refuseUpdate('db', new ApiError(403, { message, code: 403 }));
  cluster.put(anOperator({ packageName: 'other' }, 'other'));
  await eventually(async () => {
    expect(ofOther()).toContain(`Operator "db" was not updated: ${message}`);
  });
  await otherIsInstalledIn(() => undefined);
});

test('nor where somebody else has just changed what it requires', async () => {
  await installed();
  refuseUpdate('db', new ApiError(409, { reason: 'Conflict', code: 409 }));
  cluster.put(anOperator({ packageName: 'other' }, 'other'));
  await eventually(async () => {
    expect(ofOther()).toMatch(/Operator "db", made for it, is not marked as required yet$/);
  });
  await otherIsInstalledIn(() => cluster.put(cluster.get('Operator', 'db')!));
});

test('nor before the dependencies of its dependencies name it', async () => {
  const value = { packageName: 'app', versionRange: '>=1.0.0' };
  const above = { type: 'olm.package.required', value };
  cluster.remove('Operator', 'app');
  cluster.put(anOperator({ packageName: 'first' }, 'first'));
  contents.serve({}, app, db, aPackage({ name: 'first', properties: [above] }));
  const ofFirst = () => cluster.condition('Operator', 'first', 'DependenciesSatisfied');
  await cluster.start();
  await eventually(async () => {
    cluster.coreInstalls();
    expect(ofFirst()).toMatch(/^True Satisfied/);
  });
  contents.serve(
    {},
    app,
    db,
    aPackage({ name: 'first', properties: [above] }),
    aPackage({ name: 'other', properties: [above] }),
  );
  refuseUpdate('db', new ApiError(409, { reason: 'Conflict', code: 409 }));
  cluster.put(anOperator({ packageName: 'other' }, 'other'));
  await eventually(async () => {
    expect(ofOther()).toMatch(/Operator "app", made for it, is not marked as required yet$/);
  });
  expect(cluster.image('other')).toBeUndefined();
});
