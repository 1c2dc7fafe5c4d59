import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ExtensionCluster } from '../../../test/helpers/extension-cluster.ts';
import { aClusterExtension, anOperator } from '../../../test/helpers/extension-fixture.ts';
import { aChannel, aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';

const clusterCatalog = { name: 'c', kind: 'ClusterCatalog' } as const;

let contents: FixedContents;
let cluster: ExtensionCluster;

beforeEach(() => {
  contents = new FixedContents();
  cluster = new ExtensionCluster(contents, { installsDependencies: true });
});

afterEach(async () => {
  await cluster.stop();
});

function requiring(name: string, versionRange: string, versions = ['1.0.0']) {
  const value = { packageName: 'db', versionRange };
  return aPackage({ name, versions, properties: [{ type: 'olm.package.required', value }] });
}

const db = (...versions: readonly string[]) => aPackage({ name: 'db', versions });

function asks(name: string, spec: object = {}) {
  return anOperator({ packageName: name, ...spec }, name);
}

/** Operator `gallery` and ClusterExtension `app` have what they require. */
async function bothInstalled(ofApp = '>=1.0.0'): Promise<void> {
  contents.serve(clusterCatalog, requiring('app', ofApp));
  cluster.put(asks('gallery'));
  await cluster.start();
  await eventually(async () => {
    cluster.coreInstalls();
    expect(cluster.condition('Operator', 'gallery', 'Ready')).toMatch(/^True/);
  });
  cluster.put(aClusterExtension({ packageName: 'app' }, {}, 'app'));
  await eventually(async () => {
    cluster.coreInstalls();
    expect(condition()).toMatch(/^True Satisfied: .*\(of Operator "db"\)$/);
  });
  await cluster.settled();
}

function condition(name = 'app'): string | undefined {
  return cluster.condition('ClusterExtension', name, 'DependenciesSatisfied');
}

function owners(): readonly string[] {
  const references = cluster.get('Operator', 'db')?.metadata.ownerReferences ?? [];
  return references.map(({ kind, name }) => `${kind}/${name}`);
}

function version(): string | undefined {
  return (cluster.get('Operator', 'db')?.['spec'] as { version?: string } | undefined)?.version;
}

test('a made Operator stays while a ClusterExtension requires it, and goes with that', async () => {
  contents.serve({}, requiring('gallery', '>=1.0.0'), db('1.0.0'));
  await bothInstalled();
  expect(owners()).toEqual(['ClusterExtension/app', 'Operator/gallery']);
  cluster.remove('Operator', 'gallery');
  cluster.collectGarbage();
  await eventually(async () => expect(owners()).toEqual(['ClusterExtension/app']));
  await cluster.settled();
  expect(cluster.get('Operator', 'db')?.metadata.annotations).toEqual({
    'core.rukpak.io/required-by':
      '[{"operator":"ClusterExtension/app","requires":"package \\"db\\" in version range \\">=1.0.0\\""}]',
  });
  expect(condition()).toMatch(/^True Satisfied/);
  cluster.remove('ClusterExtension', 'app');
  cluster.collectGarbage();
  await cluster.settled();
  expect(cluster.names('Operator')).toEqual([]);
});

test('it stays when no Operator requires it any more, until the ClusterExtension does not either', async () => {
  const gallery = (...ranges: readonly string[]) => ({
    ...aPackage({ name: 'gallery', versions: ['1.0.0', '1.1.0'] }),
    bundles: [
      ...requiring('gallery', '>=1.0.0').bundles,
      ...aPackage({ name: 'gallery', versions: ['1.1.0'] }).bundles,
    ].slice(0, ranges.length),
    channels: [aChannel('stable', ranges)],
  });
  contents.serve({}, gallery('gallery.v1.0.0'), db('1.0.0'));
  await bothInstalled();
  contents.serve({}, gallery('gallery.v1.0.0', 'gallery.v1.1.0'), db('1.0.0'));
  await eventually(async () => {
    cluster.coreInstalls();
    expect(owners()).toEqual(['ClusterExtension/app']);
  });
  await cluster.settled();
  expect([cluster.image('gallery'), version()]).toEqual(['example.com/gallery:1.1.0', '1.0.0']);
  cluster.events.taken();
  contents.serve(clusterCatalog, aPackage({ name: 'app' }));
  await eventually(async () => expect(cluster.names('Operator')).toEqual(['gallery']));
  expect(cluster.events.taken()).toContain(
    'Normal DependencyDeleted: Deleted Operator "db": nothing that is installed requires it any more',
  );
});

test('its version meets what the ClusterExtension requires, whatever Operators require later', async () => {
  contents.serve({}, requiring('gallery', '>=1.0.0'), requiring('late', '>=1.2.0'), db('1.0.0'));
  await bothInstalled('<1.2.0');
  const versions = ['1.0.0', '1.1.0', '1.2.0'];
  contents.serve(
    {},
    requiring('gallery', '>=1.0.0'),
    requiring('late', '>=1.2.0'),
    db(...versions),
  );
  await eventually(async () => expect(version()).toBe('1.1.0'));
  cluster.put(asks('late'));
  await eventually(async () => {
    cluster.coreInstalls();
    expect(cluster.condition('Operator', 'late', 'DependenciesSatisfied')).toMatch(
      /Version 1\.2\.0 would meet it, but not what others require: .*ClusterExtension "app" requires package "db" in version range "<1\.2\.0"/,
    );
  });
  expect(version()).toBe('1.1.0');
});

test('a ClusterExtension changes no version, and keeps nothing that never met what it requires', async () => {
  contents.serve({}, requiring('gallery', '<2.0.0'), db('1.0.0', '2.0.0'));
  await bothInstalled();
  contents.serve(
    clusterCatalog,
    requiring('app', '>=2.0.0', ['1.0.0', '1.1.0']),
    requiring('fresh', '>=2.0.0'),
  );
  cluster.put(aClusterExtension({ packageName: 'fresh' }, {}, 'fresh'));
  await eventually(async () => {
    cluster.coreInstalls();
    expect(condition()).toMatch(/^False DependencyMissing: bundle "app.v1.1.0" requires/);
    expect(condition('fresh')).toMatch(/^False DependencyMissing/);
  });
  await cluster.settled();
  expect([version(), owners()]).toEqual(['1.0.0', ['ClusterExtension/app', 'Operator/gallery']]);
  cluster.remove('Operator', 'gallery');
  cluster.collectGarbage();
  await eventually(async () => expect(owners()).toEqual(['ClusterExtension/app']));
  await cluster.settled();
  expect(version()).toBe('1.0.0');
});

test('it stays while the catalog of the ClusterExtension is gone, also after a restart', async () => {
  contents.serve({}, requiring('gallery', '>=1.0.0'), db('1.0.0'));
  await bothInstalled();
  contents.remove(clusterCatalog);
  cluster.remove('Operator', 'gallery');
  cluster.collectGarbage();
  await cluster.settled();
  await cluster.stop();
  await cluster.start();
  cluster.put(asks('unknown'));
  await eventually(async () => {
    expect(cluster.condition('Operator', 'unknown', 'Resolved')).toMatch(/^False/);
  });
  expect(cluster.taken()).toEqual(['patch Operator/unknown']);
  await cluster.settled();
  expect([version(), owners()]).toEqual(['1.0.0', ['ClusterExtension/app']]);
});
