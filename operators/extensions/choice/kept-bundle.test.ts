import { beforeEach, describe, expect, test } from 'vitest';
import { aBundleRecord, having } from '../../../test/helpers/bundle-record.ts';
import { aClusterExtension, anOperator } from '../../../test/helpers/extension-fixture.ts';
import { aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';
import type { Installation } from '../deployment/installation.ts';
import type { Extension } from '../extension.ts';
import { clusterExtensionKind } from '../kinds/cluster-extension-kind.ts';
import { operatorKind } from '../kinds/operator-kind.ts';
import { chooseInline } from './choose.ts';

const kind = 'ClusterCatalog';
const operators = operatorKind({ forceSemverUpgradeConstraints: true });

let contents: FixedContents;

beforeEach(() => {
  contents = new FixedContents();
});

async function choose(extension: Extension, installation: Installation): Promise<string> {
  const subject = { extension, installation, present: () => [] };
  const { choice } = await chooseInline(subject, contents);
  return choice.kind === 'resolved' ? choice.bundle.name : `${choice.kind}: ${choice.message}`;
}

function operator(spec: object = {}): Extension {
  return operators.read(anOperator({ ...spec }));
}

function extension(catalog: object = {}): Extension {
  return clusterExtensionKind.read(aClusterExtension({ ...catalog }));
}

describe('the bundle of another package', () => {
  const otherPackage = (of: string) =>
    `failed: BundleDeployment "painter" has bundle "painter.v1.0.0" of package "painter" installed, and the controller does not replace it by package "brush": request package "painter", give the ${of} another name, or delete the BundleDeployment, which uninstalls package "painter"`;
  const installed = having(aBundleRecord('1.0.0'));
  const channels = [
    { name: 'stable', entries: [{ name: 'brush.v2.0.0', skips: [], skipRange: '<2.0.0' }] },
  ];

  test.each([
    ['of the same version', aPackage({ name: 'brush' })],
    ['whose skipRange includes it', aPackage({ name: 'brush', versions: ['2.0.0'], channels })],
  ])('is not taken for one that a bundle %s upgrades', async (_, brush) => {
    contents.serve({ kind }, aPackage(), brush);
    for (const upgradeConstraintPolicy of ['CatalogProvided', 'SelfCertified']) {
      const wanted = extension({ packageName: 'brush', upgradeConstraintPolicy });
      expect(await choose(wanted, installed)).toBe(otherPackage('ClusterExtension'));
    }
  });

  test('is not replaced for an Operator, unless the package has its image too', async () => {
    const brush = (image: string) =>
      aPackage({ name: 'brush', versions: ['1.0.0', '1.1.0'], imageOf: (v) => `${image}:${v}` });
    contents.serve({}, brush('example.com/brush'));
    for (const upgradeConstraintPolicy of ['Enforce', 'Ignore']) {
      const wanted = operator({ packageName: 'brush', upgradeConstraintPolicy });
      expect(await choose(wanted, installed)).toBe(otherPackage('Operator'));
    }
    contents.serve({}, brush('example.com/painter'));
    const renamed = operator({ packageName: 'brush' });
    expect(await choose(renamed, installed)).toBe('brush.v1.1.0');
  });
});
