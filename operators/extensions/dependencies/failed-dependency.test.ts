import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ExtensionCluster } from '../../../test/helpers/extension-cluster.ts';
import { aClusterExtension, anOperator } from '../../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';

let contents: FixedContents;
let cluster: ExtensionCluster;

beforeEach(() => {
  contents = new FixedContents();
  cluster = new ExtensionCluster(contents, { installsDependencies: true });
});

afterEach(async () => {
  await cluster.stop();
});

function requiring(name: string, packageName: string, versions: readonly string[] = ['1.0.0']) {
  const value = { packageName, versionRange: '>=1.0.0' };
  return aPackage({ name, versions, properties: [{ type: 'olm.package.required', value }] });
}

const condition = (name: string, type = 'DependenciesSatisfied') =>
  cluster.condition('Operator', name, type);
const problem =
  'package "db" in version range ">=1.0.0": Operator "db", made for it, cannot be installed: bad content';

async function ready(name: string): Promise<void> {
  await eventually(async () => {
    cluster.coreInstalls();
    expect(condition(name, 'Ready')).toMatch(/^True/);
  });
}

async function placed(name: string): Promise<void> {
  await eventually(async () => expect(cluster.image(name)).toBeDefined());
}

async function settled(): Promise<void> {
  cluster.taken();
  await new Promise((resolve) => setImmediate(resolve));
  expect(cluster.taken()).toEqual([]);
}

test('a made Operator that fails is named with its cause, and neither deleted nor made again', async () => {
  contents.serve({}, requiring('app', 'db'), aPackage({ name: 'db' }));
  cluster.put(anOperator({ packageName: 'app' }, 'app'));
  await cluster.start();
  await placed('db');
  const uid = cluster.get('Operator', 'db')?.metadata.uid;
  cluster.coreFails('db', 'bad content');
  const message = `bundle "app.v1.0.0" requires ${problem}`;
  await eventually(async () => {
    expect(condition('app')).toBe(`False DependencyFailed: ${message}`);
    expect(condition('app', 'Ready')).toBe(`False WaitingForDependencies: ${message}`);
  });
  expect(cluster.events.taken()).toContain(`Warning DependencyFailed: ${message}`);
  await eventually(settled);
  contents.serve({ name: 'other' }, aPackage({ name: 'other' }));
  await eventually(settled);
  expect(cluster.get('Operator', 'db')?.metadata.uid).toBe(uid);
  expect(cluster.image('app')).toBeUndefined();
  await ready('app');
});

test('a new version in the catalog is the cure', async () => {
  contents.serve({}, requiring('app', 'db'), aPackage({ name: 'db' }));
  cluster.put(anOperator({ packageName: 'app' }, 'app'));
  await cluster.start();
  await placed('db');
  cluster.coreFails('db', 'bad content');
  await eventually(async () => expect(condition('app')).toMatch(/^False DependencyFailed/));
  contents.serve(
    {},
    requiring('app', 'db'),
    aPackage({ name: 'db', versions: ['1.0.0', '1.0.1'] }),
  );
  await eventually(async () => expect(cluster.image('db')).toBe('example.com/db:1.0.1'));
  await ready('app');
});

test('a chain names the Operator that fails, whoever made those between', async () => {
  contents.serve(
    {},
    requiring('site', 'app'),
    requiring('app', 'cache'),
    requiring('cache', 'db'),
    aPackage({ name: 'db' }),
  );
  cluster.put(anOperator({ packageName: 'site' }, 'site'));
  cluster.put(anOperator({ packageName: 'app' }, 'mine'));
  await cluster.start();
  await placed('db');
  cluster.coreFails('db', 'bad content');
  await eventually(async () => {
    expect(condition('site')).toBe(
      `False DependencyFailed: bundle "site.v1.0.0" requires package "app" in version range ">=1.0.0": Operator "mine", which has the package, waits for ${problem}`,
    );
    expect(condition('mine')).toBe(
      `False DependencyFailed: bundle "app.v1.0.0" requires package "cache" in version range ">=1.0.0": Operator "cache", made for it, waits for ${problem}`,
    );
  });
  await ready('site');
});

test('a chain that ends with what a user has to do says that', async () => {
  const value = { group: 'd.io', version: 'v1', kind: 'D' };
  const provided = [{ type: 'olm.gvk', value }];
  contents.serve(
    {},
    requiring('site', 'app'),
    aPackage({ name: 'app', properties: [{ type: 'olm.gvk.required', value }] }),
    aPackage({ name: 'da', properties: provided }),
    aPackage({ name: 'db', properties: provided }),
  );
  cluster.put(anOperator({ packageName: 'site' }, 'site'));
  await cluster.start();
  await eventually(async () => {
    expect(condition('site')).toBe(
      'False DependencyMissing: bundle "site.v1.0.0" requires package "app" in version range ">=1.0.0": Operator "app", made for it, waits for an operator providing an API with group: d.io, version: v1, kind: D: packages "da", "db" meet it: create an Operator for one of them',
    );
  });
});

test('Operators that require one another end with the cause that is outside of them', async () => {
  const both = [requiring('one', 'two'), requiring('two', 'one')] as const;
  contents.serve({}, ...both);
  cluster.put(anOperator({ packageName: 'one' }, 'one'));
  await cluster.start();
  await placed('one');
  await placed('two');
  cluster.coreFails('two', 'bad content');
  await eventually(async () => {
    expect(condition('one')).toMatch(
      /Operator "two", made for it, cannot be installed: bad content$/,
    );
  });
  await ready('one');
});

test('a ClusterExtension of a user that fails is named too', async () => {
  contents.serve({}, requiring('app', 'db'), aPackage({ name: 'db' }));
  contents.serve({ name: 'c', kind: 'ClusterCatalog' }, aPackage({ name: 'db' }));
  cluster.put(aClusterExtension({ packageName: 'db' }, {}, 'mine'));
  await cluster.start();
  await placed('mine');
  cluster.coreFails('mine', 'bad content');
  cluster.put(anOperator({ packageName: 'app' }, 'app'));
  await eventually(async () => {
    expect(condition('app')).toBe(
      'False DependencyFailed: bundle "app.v1.0.0" requires package "db" in version range ">=1.0.0": ClusterExtension "mine", which has the package, cannot be installed: bad content',
    );
  });
});
