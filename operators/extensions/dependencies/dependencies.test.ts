import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ExtensionCluster } from '../../../test/helpers/extension-cluster.ts';
import { aClusterExtension, anOperator } from '../../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';

let contents: FixedContents;
let cluster: ExtensionCluster;

beforeEach(() => {
  contents = new FixedContents();
  cluster = new ExtensionCluster(contents, { installsDependencies: true });
});

afterEach(async () => {
  await cluster.stop();
});

type Packages = Parameters<FixedContents['serve']>[1];

const requires = (packageName: string, versionRange = '>=1.0.0') => ({
  type: 'olm.package.required',
  value: { packageName, versionRange },
});
const api = { group: 'd.io', version: 'v1', kind: 'D' };
const providesApi = { type: 'olm.gvk', value: api };
const requiresApi = { type: 'olm.gvk.required', value: api };

/** A package whose versions require others; each replaces the one before. */
function requiring(name: string, ...properties: NonNullable<Packages['bundles'][0]['properties']>) {
  return aPackage({ name, properties });
}

function asks(name: string, spec: object = {}): KubernetesObject {
  return anOperator({ packageName: name, ...spec }, name);
}

function condition(name: string, type = 'DependenciesSatisfied'): string | undefined {
  return cluster.condition('Operator', name, type);
}

async function ready(...names: readonly string[]): Promise<void> {
  await eventually(async () => {
    cluster.coreInstalls();
    for (const name of names) expect(condition(name, 'Ready')).toMatch(/^True/);
  });
}

function version(name: string): string | undefined {
  return (cluster.get('Operator', name)?.['spec'] as { version?: string } | undefined)?.version;
}

function owners(name: string): readonly string[] {
  const references = cluster.get('Operator', name)?.metadata.ownerReferences ?? [];
  return references.map((each) => each.name);
}

describe('what an Operator requires', () => {
  test('is installed before it, marked, and goes with it', async () => {
    contents.serve({}, requiring('app', requires('db')), aPackage({ name: 'db' }));
    cluster.put(asks('app'));
    await cluster.start();
    await eventually(async () => expect(cluster.image('db')).toBe('example.com/db:1.0.0'));
    expect(cluster.image('app')).toBeUndefined();
    expect(condition('app')).toMatch(
      /^False DependencyNotInstalled: bundle "app.v1.0.0" requires package "db" in version range ">=1.0.0": Operator "db", made for it, /,
    );
    expect(condition('app', 'Ready')).toMatch(/^False WaitingForDependencies: bundle "app.v1.0.0"/);
    await ready('app', 'db');
    expect(condition('app')).toBe(
      'True Satisfied: bundle "app.v1.0.0" requires package "db" in version range ">=1.0.0" (of Operator "db")',
    );
    expect(cluster.get('Operator', 'db')).toMatchObject({
      metadata: {
        labels: { 'core.rukpak.io/dependency': 'true' },
        annotations: {
          'core.rukpak.io/required-by':
            '[{"operator":"app","requires":"package \\"db\\" in version range \\">=1.0.0\\""}]',
        },
        ownerReferences: [{ name: 'app', uid: 'uid-of-app', blockOwnerDeletion: false }],
      },
      spec: { packageName: 'db', version: '1.0.0' },
    });
    expect(cluster.get('BundleDeployment', 'db')?.['spec']).toMatchObject({
      deletionPolicy: 'KeepCRDs',
    });
    cluster.remove('Operator', 'app');
    cluster.collectGarbage();
    await cluster.settled();
    expect([cluster.names('Operator'), cluster.names('BundleDeployment')]).toEqual([[], []]);
  });

  test('sends no request when nothing has changed, also after a restart', async () => {
    contents.serve({}, requiring('app', requires('db')), aPackage({ name: 'db' }));
    cluster.put(asks('app'));
    await cluster.start();
    await ready('app', 'db');
    await cluster.settled();
    await cluster.stop();
    await cluster.start();
    cluster.put(asks('unknown'));
    await eventually(async () => expect(condition('unknown', 'Resolved')).toMatch(/^False/));
    await cluster.settled();
    expect(owners('db')).toEqual(['app']);
  });

  test('of what it requires is installed too, and owned by Operators of users alone', async () => {
    contents.serve(
      {},
      requiring('app', requires('db')),
      requiring('db', requires('disk')),
      requiring('disk', requires('db')),
    );
    cluster.put(asks('app'));
    await cluster.start();
    await ready('app', 'db', 'disk');
    expect([owners('db'), owners('disk')]).toEqual([['app'], ['app']]);
    cluster.remove('Operator', 'app');
    cluster.collectGarbage();
    await cluster.settled();
    expect(cluster.names('Operator')).toEqual([]);
  });

  test('has the version that all of them need, whoever comes first', async () => {
    const versions = ['1.0.0', '1.1.0', '1.2.0', '2.0.0'];
    contents.serve(
      {},
      requiring('one', requires('db', '<1.2.0')),
      requiring('two', requires('db', '>=1.0.0')),
      requiring('three', requires('db', '>=2.0.0')),
      aPackage({ name: 'db', versions }),
    );
    cluster.put(asks('two'), asks('one'));
    await cluster.start();
    await ready('one', 'two');
    expect([version('db'), owners('db')]).toEqual(['1.1.0', ['one', 'two']]);
    cluster.put(asks('three'));
    await eventually(async () => {
      expect(condition('three')).toMatch(
        /^False DependencyMissing: .*Upgrades from the installed 1.1.0/,
      );
    });
    expect(version('db')).toBe('1.1.0');
  });

  test.each([0, 1, 2])('is equal for equal objects and catalogs, in order %i', async (turn) => {
    const turned = <T>(list: readonly T[]): readonly T[] => [
      ...list.slice(turn),
      ...list.slice(0, turn),
    ];
    const db = { name: 'db', properties: [providesApi] };
    const catalogs = [
      () =>
        contents.serve({ name: 'x' }, aPackage({ ...db, versions: ['1.0.0', '1.1.0', '1.3.0'] })),
      () => contents.serve({ name: 'y' }, aPackage({ ...db, versions: ['1.0.0', '1.2.0'] })),
      () =>
        contents.serve(
          { name: 'z' },
          requiring('one', requires('db', '<1.3.0')),
          requiring('two', requires('db', '>=1.1.0')),
          requiring('three', requiresApi),
        ),
    ];
    for (const serve of turned(catalogs)) serve();
    cluster.put(...turned([asks('one'), asks('two'), asks('three')]));
    await cluster.start();
    await ready('one', 'two', 'three');
    expect([version('db'), owners('db')]).toEqual(['1.2.0', ['one', 'three', 'two']]);
  });

  test('is not taken away by another that needs another version', async () => {
    const packages = [
      requiring('one', requires('db', '<1.1.0')),
      requiring('two', requires('db', '>=1.1.0')),
      aPackage({ name: 'db', versions: ['1.0.0', '1.1.0'] }),
    ] as const;
    contents.serve({}, ...packages);
    cluster.put(asks('one'));
    await cluster.start();
    await ready('one');
    cluster.put(asks('two'));
    await eventually(async () => {
      expect(condition('two')).toBe(
        'False DependencyMissing: bundle "two.v1.0.0" requires package "db" in version range ">=1.1.0": Version 1.1.0 would meet it, but not what others require: Operator "one" requires package "db" in version range "<1.1.0". Once they no longer require that, the controller installs it for all.',
      );
    });
    expect([version('db'), owners('db'), cluster.image('two')]).toEqual([
      '1.0.0',
      ['one'],
      undefined,
    ]);
    expect(condition('one')).toMatch(/^True Satisfied/);
  });

  test('is upgraded before it, and deleted when no version that is installed requires it', async () => {
    const app = (range: string) => ({
      ...aPackage({ name: 'app', versions: ['1.0.0', '1.1.0'] }),
      bundles: [
        ...requiring('app', requires('db', '<1.1.0')).bundles,
        ...aPackage({
          name: 'app',
          versions: ['1.1.0'],
          properties: range === '' ? [] : [requires('db', range)],
        }).bundles,
      ],
    });
    const db = aPackage({ name: 'db', versions: ['1.0.0', '1.1.0'] });
    contents.serve({}, app('>=1.1.0'), db);
    cluster.put(asks('app', { version: '1.0.0' }));
    await cluster.start();
    await ready('app');
    expect(version('db')).toBe('1.0.0');
    cluster.put({ ...cluster.get('Operator', 'app'), ...asks('app', { version: '1.1.0' }) });
    await eventually(async () => expect(cluster.image('db')).toBe('example.com/db:1.1.0'));
    expect(cluster.image('app')).toBe('example.com/app:1.0.0');
    await eventually(async () => {
      cluster.coreInstalls();
      expect(cluster.image('app')).toBe('example.com/app:1.1.0');
    });
    await cluster.settled();
    contents.serve({}, app(''), db);
    await eventually(async () => expect(cluster.names('Operator')).toEqual(['app']));
    expect(cluster.taken()).toContain('delete Operator/db');
  });

  test('stays while a catalog is gone, or nothing resolves', async () => {
    contents.serve({}, requiring('app', requires('db')), aPackage({ name: 'db' }));
    cluster.put(asks('app'));
    await cluster.start();
    await ready('app');
    await cluster.settled();
    contents.serve({}, aPackage({ name: 'other' }));
    await eventually(async () => expect(condition('app', 'Resolved')).toMatch(/^False/));
    contents.lose({}, 'Failed', 'no route');
    await cluster.settled();
    await cluster.stop();
    await cluster.start();
    await cluster.settled();
    expect([version('db'), owners('db')]).toEqual(['1.0.0', ['app']]);
    contents.lose({}, 'Pending');
    contents.remove({});
    await cluster.settled();
    expect([version('db'), owners('db')]).toEqual(['1.0.0', ['app']]);
  });
});

describe('an API', () => {
  test('of one package is installed', async () => {
    contents.serve(
      {},
      requiring('app', requiresApi),
      aPackage({ name: 'db', versions: ['1.0.0', '1.1.0'], properties: [providesApi] }),
    );
    cluster.put(asks('app'));
    await cluster.start();
    await ready('app');
    expect(version('db')).toBe('1.1.0');
    // What was chosen once stays.
    contents.serve(
      {},
      requiring('app', requiresApi),
      aPackage({ name: 'db', properties: [providesApi] }),
      aPackage({ name: 'da', properties: [providesApi] }),
    );
    await cluster.settled();
    expect(cluster.names('Operator')).toEqual(['app', 'db']);
  });

  test('of two packages is left to the user, unless the own catalog has one of them alone', async () => {
    contents.serve(
      {},
      requiring('app', requiresApi),
      aPackage({ name: 'db', properties: [providesApi] }),
    );
    contents.serve(
      { name: 'other' },
      requiring('own', requiresApi),
      aPackage({ name: 'da', properties: [providesApi] }),
      aPackage({ name: 'dc', properties: [providesApi] }),
    );
    cluster.put(asks('own'));
    await cluster.start();
    await eventually(async () => {
      expect(condition('own')).toBe(
        'False DependencyMissing: bundle "own.v1.0.0" requires an operator providing an API with group: d.io, version: v1, kind: D: packages "da", "dc" meet it: create an Operator for one of them',
      );
    });
    expect(cluster.names('Operator')).toEqual(['own']);
    cluster.put(asks('app'));
    await ready('app', 'db', 'own');
  });

  test('of no package, and rules that name none, are left to the user', async () => {
    const rule = {
      type: 'olm.constraint',
      value: { cel: { rule: 'properties.exists(p, p.type == "x")' } },
    };
    contents.serve({}, requiring('app', requiresApi), requiring('ruled', rule));
    cluster.put(asks('app'), asks('ruled'));
    await cluster.start();
    await eventually(async () => {
      expect(condition('app')).toMatch(/kind: D: no package in the catalogs meets it$/);
      expect(condition('ruled')).toMatch(
        /it has an expression, or names no package or API: create an Operator for a package that meets it$/,
      );
    });
    expect(cluster.names('BundleDeployment')).toEqual([]);
  });
});

test('a package that is too large for the event loop is left to the user', async () => {
  const deprecations = [{ schema: 'olm.package', name: '', message: 'x'.repeat(300_000) } as const];
  contents.serve(
    {},
    requiring('app', requires('db')),
    requiring('free'),
    aPackage({ name: 'db', deprecations }),
  );
  cluster.put(asks('app'), asks('free'));
  await cluster.start();
  await ready('free');
  await eventually(async () => {
    expect(condition('app')).toMatch(
      /package "db" has 30\d{4} bytes in the catalogs, more than 262144: create an Operator for it/,
    );
  });
  expect(cluster.names('Operator')).toEqual(['app', 'free']);
});

describe('objects of users', () => {
  test('an Operator of the package is waited for, and not changed', async () => {
    contents.serve(
      {},
      requiring('app', requires('db', '>=1.1.0')),
      aPackage({ name: 'db', versions: ['1.0.0', '1.1.0'] }),
    );
    const mine = anOperator({ packageName: 'db', version: '1.0.0' }, 'mine');
    cluster.put(asks('app'), mine);
    await cluster.start();
    await ready('mine');
    await eventually(async () => {
      expect(condition('app')).toMatch(
        /^False DependencyNotInstalled: .*: Operator "mine", which has the package, has version 1.0.0$/,
      );
    });
    expect(cluster.names('Operator')).toEqual(['app', 'mine']);
    cluster.put({ ...mine, spec: { packageName: 'db', version: '1.1.0' } });
    await ready('app');
  });

  test('of the name are left alone', async () => {
    contents.serve(
      {},
      requiring('app', requires('db')),
      requiring('second', requires('disk')),
      aPackage({ name: 'db' }),
      aPackage({ name: 'disk' }),
      aPackage({ name: 'other' }),
    );
    cluster.put(aStoredDeployment({ name: 'disk' }), anOperator({ packageName: 'other' }, 'db'));
    cluster.put(asks('app'), asks('second'));
    await cluster.start();
    await eventually(async () => {
      expect(condition('app')).toMatch(
        /cannot create Operator "db", because Operator "db" exists and is not for this package: create an Operator with another name for package "db"/,
      );
      expect(condition('second')).toMatch(
        /because BundleDeployment "disk" exists and is not for this package/,
      );
    });
    expect(cluster.get('Operator', 'db')?.['spec']).toEqual({ packageName: 'other' });
    expect(cluster.get('BundleDeployment', 'disk')?.metadata.annotations).toBeUndefined();
  });

  test.each<[string, (made: KubernetesObject) => KubernetesObject]>([
    [
      'without its label',
      (made) => ({ ...made, metadata: { ...made.metadata, labels: { mine: 'yes' } } }),
    ],
    [
      'with a spec that others wrote',
      (made) => {
        const managedFields = [
          { manager: 'kubectl-edit', fieldsV1: { 'f:spec': { 'f:version': {} } } },
        ];
        return {
          ...made,
          metadata: { ...made.metadata, managedFields } as KubernetesObject['metadata'],
        };
      },
    ],
    [
      'without its label and its note',
      ({ metadata: { labels: _labels, annotations: _notes, ...metadata }, ...made }) => {
        const managedFields = [
          {
            manager: 'operator-dependencies',
            fieldsV1: { 'f:metadata': { 'f:ownerReferences': {} } },
          },
        ];
        return {
          ...made,
          metadata: { ...metadata, managedFields } as KubernetesObject['metadata'],
        };
      },
    ],
    ['without its version', (made) => ({ ...made, spec: { packageName: 'db' } })],
    [
      'without owners',
      (made) => ({ ...made, metadata: { ...made.metadata, ownerReferences: [] } }),
    ],
    [
      'with another note',
      (made) => ({
        ...made,
        metadata: { ...made.metadata, annotations: { 'core.rukpak.io/required-by': 'x' } },
      }),
    ],
  ])('a made Operator %s is the user’s from then on', async (_, takenOver) => {
    contents.serve({}, requiring('app', requires('db')), aPackage({ name: 'db' }));
    cluster.put(asks('app'));
    await cluster.start();
    await ready('app');
    await cluster.settled();
    cluster.put(takenOver(cluster.get('Operator', 'db') as KubernetesObject));
    await eventually(async () => {
      const { labels, annotations, ownerReferences } =
        cluster.get('Operator', 'db')?.metadata ?? {};
      expect(labels ?? {}).not.toHaveProperty('core.rukpak.io/dependency');
      expect([annotations, ownerReferences]).toEqual([{}, []]);
      const { spec } = cluster.get('BundleDeployment', 'db') as { spec?: object };
      expect(spec).not.toHaveProperty('deletionPolicy');
    });
    cluster.remove('Operator', 'app');
    cluster.collectGarbage();
    await cluster.settled();
    expect(cluster.names('Operator')).toEqual(['db']);
  });

  test('a ClusterExtension gets nothing installed, and is told what would meet it', async () => {
    const catalog = { name: 'c', kind: 'ClusterCatalog' } as const;
    contents.serve(
      catalog,
      requiring('app', requiresApi),
      aPackage({ name: 'db', properties: [providesApi] }),
    );
    cluster.put(aClusterExtension({ packageName: 'app' }, {}, 'app'));
    await cluster.start();
    await eventually(async () => {
      expect(cluster.condition('ClusterExtension', 'app', 'DependenciesSatisfied')).toBe(
        'False DependencyMissing: bundle "app.v1.0.0" requires an operator providing an API with group: d.io, version: v1, kind: D (in package "db"), which no Operator or ClusterExtension installs: create an Operator for it',
      );
    });
    expect(cluster.image('app')).toBe('example.com/app:1.0.0');
    expect(cluster.names('Operator')).toEqual([]);
  });
});

test('what is made for one Operator ends at the maximum, and says so', async () => {
  const named = (letter: string) => Array.from({ length: 30 }, (_, at) => `${letter}${at}`);
  const [direct, further] = [named('a'), named('b')];
  const all = (names: readonly string[]) => names.map((name) => requires(name));
  contents.serve(
    {},
    requiring('app', ...all(direct)),
    requiring('a0', ...all(further)),
    ...[...direct.slice(1), ...further].map((name) => aPackage({ name })),
  );
  cluster.put(asks('app'));
  await cluster.start();
  await eventually(async () => {
    expect(condition('a0')).toMatch(
      /^False DependencyMissing: .*: Operator "app" has 50 Operators made for it, which is the maximum: create an Operator for it\. and 5 more$/,
    );
  });
  expect(cluster.names('Operator')).toHaveLength(51);
  expect(cluster.image('app')).toBeUndefined();
});
