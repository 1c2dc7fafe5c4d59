import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../test/helpers/eventually.ts';
import { ExtensionCluster } from '../../test/helpers/extension-cluster.ts';
import { aClusterExtension, anOperator } from '../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../test/helpers/fixed-contents.ts';

let contents: FixedContents;
let cluster: ExtensionCluster;

beforeEach(() => {
  contents = new FixedContents();
  cluster = new ExtensionCluster(contents);
});

afterEach(async () => {
  await cluster.stop();
});

const imageOf = (version: string) => `evil.example/painter:${version}`;

async function installs(name: string, image: string): Promise<void> {
  await eventually(async () => {
    cluster.coreInstalls();
    expect(cluster.image(name)).toBe(image);
  });
}

describe('somebody who may create catalogs serves a package that is installed', () => {
  test('Operators take its versions within their limits: none beyond, none with a pinned version', async () => {
    contents.serve({}, aPackage());
    cluster.put(anOperator({}, 'any'), anOperator({ version: '1.0.0' }, 'pinned'));
    await cluster.start();
    await installs('any', 'example.com/painter:1.0.0');
    await installs('pinned', 'example.com/painter:1.0.0');
    contents.serve({ name: 'evil' }, aPackage({ versions: ['1.99.0', '2.0.0'], imageOf }));
    await installs('any', imageOf('1.99.0'));
    expect(cluster.image('pinned')).toBe('example.com/painter:1.0.0');
  });

  test('ClusterExtensions with a selector of their catalog take nothing of it', async () => {
    const kind = 'ClusterCatalog';
    const matchLabels = { 'olm.operatorframework.io/metadata.name': 'colours' };
    contents.serve({ kind }, aPackage());
    cluster.put(
      aClusterExtension({}, {}, 'any'),
      aClusterExtension({ selector: { matchLabels } }, {}, 'selected'),
    );
    await cluster.start();
    await installs('any', 'example.com/painter:1.0.0');
    await installs('selected', 'example.com/painter:1.0.0');
    const entry = { name: 'painter.v1.99.0', replaces: 'painter.v1.0.0', skips: [] };
    const evil = aPackage({
      versions: ['1.99.0'],
      channels: [{ name: 'stable', entries: [entry] }],
      imageOf,
    });
    contents.serve({ kind, name: 'evil', priority: 1 }, evil);
    await installs('any', imageOf('1.99.0'));
    expect(cluster.image('selected')).toBe('example.com/painter:1.0.0');
  });
});
