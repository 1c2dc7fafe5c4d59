import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ExtensionCluster } from '../../../test/helpers/extension-cluster.ts';
import { anOperator } from '../../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';

const contents = new FixedContents();
const cluster = new ExtensionCluster(contents, { installsDependencies: true });

afterEach(async () => {
  await cluster.stop();
});

function owner(each: number, versions: readonly string[]) {
  const value = { packageName: `d${each}`, versionRange: '>=1.0.0' };
  const properties = [{ type: 'olm.package.required', value }];
  return aPackage({ name: `p${each}`, versions, properties });
}

async function everythingIsInstalled(names: readonly string[]): Promise<void> {
  await eventually(async () => {
    cluster.coreInstalls();
    for (const name of names) {
      expect(cluster.condition('Operator', name, 'Ready')).toMatch(/^True/);
      const status = cluster.get('Operator', name)?.['status'];
      expect(status).toMatchObject({ installedBundleResource: cluster.image(name) });
    }
  });
}

test('sixty Operators with a dependency each, and new content that concerns three: only what these have and require is read, and only they are written', {
  timeout: 300_000,
  tags: ['slow'],
}, async () => {
  const numbers = Array.from({ length: 60 }, (_, index) => index);
  const owners = numbers.map((each) => owner(each, ['1.0.0']));
  const required = numbers.map((each) => aPackage({ name: `d${each}` }));
  contents.serve({}, ...owners, ...required);
  cluster.put(...owners.map(({ name }) => anOperator({ packageName: name }, name)));
  await cluster.start();
  await everythingIsInstalled([...owners, ...required].map(({ name }) => name));
  expect(cluster.names('Operator')).toHaveLength(120);
  cluster.taken();
  contents.reads.length = 0;

  const changed = [7, 27, 57];
  const newer = owners.map((each, at) =>
    changed.includes(at) ? owner(at, ['1.0.0', '1.1.0']) : each,
  );
  contents.serve({}, ...newer, ...required);
  await eventually(async () => {
    cluster.coreInstalls();
    for (const each of changed) {
      expect(cluster.image(`p${each}`)).toBe(`example.com/p${each}:1.1.0`);
    }
  });
  await everythingIsInstalled(changed.map((each) => `p${each}`));
  // Something that is seen when everything before it has been seen.
  cluster.put(anOperator({ packageName: 'unknown' }, 'last'));
  await eventually(async () => {
    expect(cluster.condition('Operator', 'last', 'Resolved')).toMatch(
      /no package "unknown" found$/,
    );
  });

  const read = new Set(contents.reads.filter((name) => name !== 'unknown'));
  expect([...read].toSorted()).toEqual(['d27', 'd57', 'd7', 'p27', 'p57', 'p7']);
  const requests = cluster.taken().filter((each) => each !== 'patch Operator/last');
  expect([...new Set(requests)]).toEqual([
    'apply BundleDeployment/p27',
    'apply BundleDeployment/p57',
    'apply BundleDeployment/p7',
    'get Operator/p27',
    'get Operator/p57',
    'get Operator/p7',
    'patch Operator/p27',
    'patch Operator/p57',
    'patch Operator/p7',
  ]);
  // One to read the Operator, one to apply the new version, one status with it, one when it is installed, and one to record that.
  expect(requests.length).toBeLessThanOrEqual(15);
});
