import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BundleDeployment } from '../../api/v1alpha1/index.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { ExtensionCluster } from '../../test/helpers/extension-cluster.ts';
import { aClusterExtension, anOperator } from '../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../test/helpers/fixed-contents.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { inlineResolver } from '../catalogs/index.ts';

let contents: FixedContents;
let cluster: ExtensionCluster;

beforeEach(() => {
  contents = new FixedContents();
  cluster = new ExtensionCluster(contents);
});

afterEach(async () => {
  await cluster.stop();
});

function named(index: number): string {
  return `p${index}`;
}

/** All Operators of the numbers are installed, and nothing moves any more. */
async function installed(numbers: readonly number[]): Promise<void> {
  await eventually(async () => {
    cluster.coreInstalls();
    for (const number of numbers) {
      const condition = cluster.condition('Operator', named(number), 'Ready');
      expect(condition).toMatch(/^True/);
    }
  });
  cluster.taken();
}

describe('two hundred Operators', () => {
  const numbers = Array.from({ length: 200 }, (_, index) => index);
  const packages = numbers.map((number) => aPackage({ name: named(number) }));

  beforeEach(async () => {
    contents.serve({}, ...packages);
    cluster.put(...numbers.map((each) => anOperator({ packageName: named(each) }, named(each))));
    await cluster.start();
    await installed(numbers);
  });

  test('and new content that concerns three: those three alone are resolved and written', {
    tags: ['slow'],
  }, async () => {
    const changed = [7, 77, 177];
    contents.reads.length = 0;
    const newer = (each: number) => aPackage({ name: named(each), versions: ['1.0.0', '1.1.0'] });
    contents.serve({}, ...packages.map((each, at) => (changed.includes(at) ? newer(at) : each)));
    await eventually(async () => {
      for (const each of changed) {
        expect(cluster.image(named(each))).toBe(`example.com/p${each}:1.1.0`);
        const status = cluster.get('Operator', named(each))?.['status'];
        expect(status).toMatchObject({ resolvedBundleResource: `example.com/p${each}:1.1.0` });
      }
    });
    expect([...new Set(contents.reads)].toSorted()).toEqual(['p177', 'p7', 'p77']);
    const touched = ['apply BundleDeployment/p177', 'apply BundleDeployment/p7'];
    expect(cluster.taken().filter((each) => each.startsWith('apply'))).toEqual([
      ...touched,
      'apply BundleDeployment/p77',
    ]);
  });

  test('send no request after a restart, nor for content that is the same', {
    tags: ['slow'],
  }, async () => {
    await cluster.stop();
    await cluster.start();
    contents.serve({}, ...packages);
    // Something that is seen when everything before it has been seen.
    cluster.put(anOperator({ packageName: 'unknown' }, 'last'));
    await eventually(async () => {
      expect(cluster.condition('Operator', 'last', 'Resolved')).toBe(
        'False ResolutionFailed: no package "unknown" found',
      );
    });
    await eventually(async () => {
      expect(new Set(contents.reads.slice(-201)).size).toBe(201);
    });
    expect(cluster.taken()).toEqual(['patch Operator/last']);
  });
});

test('an impossible Operator, a foreign BundleDeployment and a name clash touch no other object', async () => {
  contents.serve({}, aPackage({ name: 'good' }));
  contents.serve({ name: 'c', kind: 'ClusterCatalog' }, aPackage({ name: 'good' }));
  cluster.put(
    anOperator({ packageName: 'good' }, 'good'),
    anOperator({ packageName: 'none' }, 'impossible'),
    anOperator({ packageName: 'good' }, 'foreign'),
    aStoredDeployment({ name: 'foreign' }),
    anOperator({ packageName: 'good' }, 'both'),
  );
  await cluster.start();
  await eventually(async () => {
    cluster.coreInstalls();
    expect(cluster.condition('Operator', 'both', 'Ready')).toMatch(/^True/);
  });
  cluster.put(aClusterExtension({ packageName: 'good' }, {}, 'both'));
  await eventually(async () => {
    cluster.coreInstalls();
    expect(cluster.condition('Operator', 'good', 'Ready')).toMatch(/^True/);
    expect(cluster.condition('Operator', 'impossible', 'Resolved')).toBe(
      'False ResolutionFailed: no package "none" found',
    );
    expect(cluster.condition('Operator', 'foreign', 'Installed')).toMatch(
      /^False InstallationFailed: BundleDeployment "foreign" exists already/,
    );
    expect(cluster.condition('ClusterExtension', 'both', 'Progressing')).toMatch(
      /^True Retrying: .*: BundleDeployment "both" exists already and belongs to Operator "both"/,
    );
  });
  expect(cluster.image('foreign')).toBe('example.com/app:v1');
  expect(cluster.condition('Operator', 'both', 'Ready')).toMatch(/^True/);
});

test('a deleted BundleDeployment is created again, and a changed one repaired', async () => {
  contents.serve({}, aPackage({ name: 'p0' }));
  cluster.put(anOperator({ packageName: 'p0' }, 'p0'));
  await cluster.start();
  await installed([0]);
  cluster.remove('BundleDeployment', 'p0');
  await eventually(async () => expect(cluster.image('p0')).toBe('example.com/p0:1.0.0'));
  const live = cluster.get('BundleDeployment', 'p0');
  const { spec } = aStoredDeployment({ name: 'p0' });
  cluster.put({
    ...live,
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { ...live?.metadata },
    spec,
  });
  await eventually(async () => expect(cluster.image('p0')).toBe('example.com/p0:1.0.0'));
});

test('a catalog that is gone changes nothing, and everything goes on when it is back', async () => {
  contents.serve({}, aPackage({ name: 'p0' }), aPackage({ name: 'p1' }));
  cluster.put(...[0, 1].map((each) => anOperator({ packageName: named(each) }, named(each))));
  await cluster.start();
  await installed([0, 1]);
  contents.remove({});
  await eventually(async () => {
    for (const name of ['p0', 'p1']) {
      expect(cluster.condition('Operator', name, 'Resolved')).toMatch(/^False ResolutionFailed/);
      expect(cluster.condition('Operator', name, 'Installed')).toMatch(/^True Success/);
    }
  });
  expect(cluster.taken().every((each) => each.startsWith('patch Operator/'))).toBe(true);
  contents.serve(
    {},
    aPackage({ name: 'p0', versions: ['1.0.0', '1.0.1'] }),
    aPackage({ name: 'p1' }),
  );
  await installed([0, 1]);
  expect(cluster.image('p0')).toBe('example.com/p0:1.0.1');
  expect(cluster.image('p1')).toBe('example.com/p1:1.0.0');
});

test('an object that has another version of a required package is named, with what its change does', async () => {
  const value = { packageName: 'p1', versionRange: '>=2.0.0' };
  const properties = [{ type: 'olm.package.required', value }];
  contents.serve(
    {},
    aPackage({ name: 'p0', properties }),
    aPackage({ name: 'p1', versions: ['1.0.0', '2.0.0'] }),
  );
  cluster.put(
    anOperator({ packageName: 'p0' }, 'p0'),
    anOperator({ packageName: 'p1', version: '1.0.0' }, 'mine'),
  );
  await cluster.start();
  await eventually(async () => {
    cluster.coreInstalls();
    expect(cluster.condition('Operator', 'p0', 'DependenciesSatisfied')).toBe(
      'False DependencyMissing: bundle "p0.v1.0.0" requires package "p1" in version range ">=2.0.0", but Operator "mine" has version 1.0.0: give it a version that meets this, which replaces 1.0.0 for all that use the package',
    );
  });
});

test('a dependency is judged again when another Operator installs it', async () => {
  const value = { packageName: 'p1', versionRange: '>=1.0.0' };
  const properties = [{ type: 'olm.package.required', value }];
  contents.serve({}, aPackage({ name: 'p0', properties }), aPackage({ name: 'p1' }));
  cluster.put(anOperator({ packageName: 'p0' }, 'p0'));
  await cluster.start();
  await eventually(async () => {
    const condition = cluster.condition('Operator', 'p0', 'DependenciesSatisfied');
    expect(condition).toMatch(/^False DependencyMissing: bundle "p0.v1.0.0" requires /);
  });
  cluster.put(anOperator({ packageName: 'p1' }, 'p1'));
  await installed([0, 1]);
  await eventually(async () => {
    const condition = cluster.condition('Operator', 'p0', 'DependenciesSatisfied');
    expect(condition).toMatch(/^True Satisfied: .*\(of Operator "p1"\)/);
  });
  cluster.remove('Operator', 'p1');
  cluster.remove('BundleDeployment', 'p1');
  await eventually(async () => {
    const condition = cluster.condition('Operator', 'p0', 'DependenciesSatisfied');
    expect(condition).toMatch(/^False DependencyMissing/);
  });
});

test('BundleDeployments of others, and statuses without news, have nothing resolved again', async () => {
  const inline = inlineResolver(contents);
  let resolutions = 0;
  cluster = new ExtensionCluster(contents, {
    resolver: {
      resolve: async (asked, signal) => {
        resolutions += 1;
        return await inline.resolve(asked, signal);
      },
    },
  });
  const value = { packageName: 'p1', versionRange: '>=1.0.0' };
  const properties = [{ type: 'olm.package.required', value }];
  contents.serve({}, aPackage({ name: 'p0', properties }), aPackage({ name: 'p1' }));
  cluster.put(...[0, 1].map((each) => anOperator({ packageName: named(each) }, named(each))));
  cluster.put(aStoredDeployment({ name: 'foreign' }));
  await cluster.start();
  await installed([0, 1]);
  await eventually(async () => {
    const condition = cluster.condition('Operator', 'p0', 'DependenciesSatisfied');
    expect(condition).toMatch(/^True Satisfied: .*\(of Operator "p1"\)/);
  });
  const before = resolutions;
  const record = cluster.get('BundleDeployment', 'p1')?.metadata.annotations ?? {};
  for (const round of ['a', 'b', 'c']) {
    const foreign = aStoredDeployment({ name: 'foreign' });
    const annotations = { ...record, toggled: round };
    const metadata = { ...foreign.metadata, annotations };
    cluster.put({ ...foreign, metadata, status: { activeBundle: round } });
    const live = cluster.get('BundleDeployment', 'p1') as BundleDeployment;
    const { status, ...rest } = live;
    const ofUser = { ...live.metadata.annotations, toggled: round };
    cluster.put({
      ...rest,
      metadata: { ...live.metadata, annotations: ofUser },
      status: { ...status, resolution: round },
    });
    await installed([0, 1]);
  }
  // Something that is seen when everything before it has been seen.
  cluster.put(anOperator({ packageName: 'unknown' }, 'last'));
  await eventually(async () => {
    expect(cluster.condition('Operator', 'last', 'Resolved')).toMatch(/^False/);
  });
  expect(resolutions).toBe(before + 1);
});

describe('resolutions without end', () => {
  const stuck = Array.from({ length: 20 }, (_, index) => `stuck-${index}`);

  test('delay no other object, and nothing comes of those of deleted ones', async () => {
    const inline = inlineResolver(contents);
    const answers = Promise.withResolvers<void>();
    let waiting = 0;
    cluster = new ExtensionCluster(contents, {
      resolver: {
        resolve: async (asked, signal) => {
          if (asked.request.packageName === 'stuck') {
            waiting += 1;
            await answers.promise;
          }
          return await inline.resolve(asked, signal);
        },
      },
    });
    contents.serve({}, aPackage({ name: 'stuck' }), aPackage({ name: 'p0' }));
    cluster.put(...stuck.map((name) => anOperator({ packageName: 'stuck' }, name)));
    await cluster.start();
    await expect.poll(() => waiting).toBe(20);
    cluster.put(anOperator({ packageName: 'p0' }, 'p0'));
    await installed([0]);
    cluster.remove('Operator', 'stuck-0');
    answers.resolve();
    await eventually(async () => expect(cluster.image('stuck-19')).toBeDefined());
    expect(cluster.image('stuck-0')).toBeUndefined();
  });
});
