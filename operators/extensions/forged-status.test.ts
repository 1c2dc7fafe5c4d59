import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BundleDeployment, BundleDeploymentStatus } from '../../api/v1alpha1/index.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { ExtensionCluster } from '../../test/helpers/extension-cluster.ts';
import { aClusterExtension, anOperator } from '../../test/helpers/extension-fixture.ts';
import { aChannel, aPackage, FixedContents } from '../../test/helpers/fixed-contents.ts';

let contents: FixedContents;
let cluster: ExtensionCluster;

beforeEach(() => {
  contents = new FixedContents();
  cluster = new ExtensionCluster(contents);
});

afterEach(async () => {
  await cluster.stop();
});

const kinds = [
  ['Operator', 'Catalog', anOperator()],
  ['ClusterExtension', 'ClusterCatalog', aClusterExtension()],
] as const;

/** No upgrade leads from 1.0.0 to 2.0.0, of neither kind. */
const apart = aPackage({
  versions: ['1.0.0', '2.0.0'],
  channels: [aChannel('stable', ['painter.v1.0.0']), aChannel('fast', ['painter.v2.0.0'])],
});

function deployment(): BundleDeployment {
  return cluster.get('BundleDeployment', 'painter') as BundleDeployment;
}

async function installs(version: string): Promise<void> {
  await eventually(async () => {
    expect(cluster.image('painter')).toBe(`example.com/painter:${version}`);
    cluster.coreInstalls();
    expect(deployment().metadata.annotations?.['core.rukpak.io/selected-bundle']).toContain(
      `"active":{"package":"painter","name":"painter.v${version}"`,
    );
  });
}

/** Somebody who may write the status alone writes it, and the controller has seen that. */
async function forge(kind: 'Operator' | 'ClusterExtension', activeBundle: string): Promise<void> {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const common = { reason: 'Forged', message: 'forged', observedGeneration: 1, lastTransitionTime };
  const conditions: BundleDeploymentStatus['conditions'] = [
    { type: 'Installed', status: 'True', ...common },
    { type: 'Ready', status: 'False', ...common },
    { type: 'Stalled', status: 'True', ...common },
  ];
  cluster.put({ ...deployment(), status: { observedGeneration: 1, activeBundle, conditions } });
  await eventually(async () => {
    expect(cluster.condition(kind, 'painter', 'Ready')).toBe('False Forged: forged');
  });
}

describe.each(kinds)('%s', (kind, catalogKind, extension) => {
  const catalog = { kind: catalogKind };

  test('a BundleDeployment that is restored without status keeps its limits of upgrades', async () => {
    contents.serve(catalog, aPackage());
    cluster.put(extension);
    await cluster.start();
    await installs('1.0.0');
    await cluster.stop();
    contents.serve(catalog, apart);
    const { metadata, status: _, ...rest } = deployment();
    cluster.remove('BundleDeployment', 'painter');
    const { annotations = {} } = metadata;
    cluster.put({ ...rest, metadata: { name: 'painter', uid: 'restored', annotations } });
    await cluster.start();
    await eventually(async () => expect(deployment().metadata.ownerReferences).toHaveLength(1));
    expect(cluster.image('painter')).toBe('example.com/painter:1.0.0');
    expect(cluster.condition(kind, 'painter', 'Installed') ?? '').not.toMatch(/^True/);
    await installs('1.0.0');
  });

  test.each(['', 'another'])(
    'activeBundle %j of somebody who may write the status alone installs nothing',
    async (activeBundle) => {
      contents.serve(catalog, aPackage());
      cluster.put(extension);
      await cluster.start();
      await installs('1.0.0');
      contents.serve(catalog, apart);
      await forge(kind, activeBundle);
      expect(cluster.image('painter')).toBe('example.com/painter:1.0.0');
    },
  );

  test('nor does the name of a bundle of before: nothing goes back to it', async () => {
    contents.serve(catalog, aPackage());
    cluster.put(extension);
    await cluster.start();
    await installs('1.0.0');
    const first = deployment().status?.activeBundle ?? '';
    contents.serve(catalog, aPackage({ versions: ['1.0.0', '1.1.0'] }));
    await installs('1.1.0');
    contents.serve(
      catalog,
      aPackage({
        versions: ['1.0.0', '1.0.1', '1.1.0'],
        channels: [
          aChannel('stable', ['painter.v1.0.0', 'painter.v1.0.1']),
          aChannel('fast', ['painter.v1.1.0']),
        ],
      }),
    );
    await forge(kind, first);
    expect(cluster.image('painter')).toBe('example.com/painter:1.1.0');
  });

  test('the status of the object itself is corrected, and decides nothing', async () => {
    contents.serve(catalog, aPackage());
    cluster.put(extension);
    await cluster.start();
    await installs('1.0.0');
    const ready = /^True Healthy/;
    await eventually(async () =>
      expect(cluster.condition(kind, 'painter', 'Ready')).toMatch(ready),
    );
    const live = cluster.get(kind, 'painter');
    contents.serve(catalog, apart);
    const forged = {
      resolvedBundleResource: 'example.com/painter:2.0.0',
      installedBundleResource: 'example.com/painter:2.0.0',
      installed: { name: 'painter.v2.0.0', version: '2.0.0' },
      install: { bundle: { name: 'painter.v2.0.0', version: '2.0.0' } },
      conditions: [],
    };
    cluster.put({ ...extension, metadata: { ...live?.metadata }, status: forged });
    await eventually(async () => {
      expect(cluster.condition(kind, 'painter', 'Ready')).toMatch(ready);
      const status = cluster.get(kind, 'painter')?.['status'] as typeof forged;
      expect((status.installed ?? status.install.bundle).version).toBe('1.0.0');
    });
    expect(cluster.image('painter')).toBe('example.com/painter:1.0.0');
  });

  test('a first bundle that was never installed limits nothing', async () => {
    contents.serve(catalog, aPackage());
    cluster.put(extension);
    await cluster.start();
    await eventually(async () => {
      expect(cluster.image('painter')).toBe('example.com/painter:1.0.0');
    });
    cluster.coreFails('painter', 'the image is gone');
    contents.serve(catalog, apart);
    await installs('2.0.0');
  });
});

test('an Operator that crossed a major version does not go back to the one before', async () => {
  contents.serve({}, apart);
  cluster.put(anOperator({ version: '1.0.0' }));
  await cluster.start();
  await installs('1.0.0');
  const first = deployment().status?.activeBundle ?? '';
  cluster.put(anOperator({ upgradeConstraintPolicy: 'Ignore' }));
  await installs('2.0.0');
  cluster.put(anOperator());
  await forge('Operator', first);
  expect(cluster.image('painter')).toBe('example.com/painter:2.0.0');
});
