import { beforeEach, describe, expect, test } from 'vitest';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { aBundleRecord, having } from '../../../test/helpers/bundle-record.ts';
import {
  aClusterExtension,
  anOperator,
  installedDeployment,
} from '../../../test/helpers/extension-fixture.ts';
import { aChannel, aPackage, FixedContents } from '../../../test/helpers/fixed-contents.ts';
import type { BundleRecord } from '../deployment/bundle-record.ts';
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

/** `from` is installed, and core has not finished the upgrade to `to`. */
function upgrading(from: BundleRecord, to: BundleRecord): Installation {
  const record = { of: 'Operator/painter', applied: '', selected: to, earlier: [] };
  return { ...having(from), record };
}

describe('an upgrade that core has not finished', () => {
  const underWay = upgrading(
    aBundleRecord('1.0.0', { catalog: 'b' }),
    aBundleRecord('1.1.0', { catalog: 'a' }),
  );
  const lost =
    'failed: catalog "a", which the selected bundle "painter.v1.1.0" is from, has no content: registry down';
  const gone =
    'failed: catalog "a", which bundle "painter.v1.1.0" is from, is not available any more, and the controller does not replace it by "painter.v1.0.0" of catalog "b", which has a lower version: make catalog "a" available, or request a version range without 1.1.0';

  test.each([
    ['Catalog', operator],
    ['ClusterCatalog', extension],
  ] as const)('is not taken back when its %s has lost its content, or is gone', async (of, ask) => {
    contents.serve({ kind: of, name: 'b' }, aPackage());
    contents.lose({ kind: of, name: 'a' }, 'Failed', 'registry down');
    expect(await choose(ask(), underWay)).toBe(lost);
    contents.lose({ kind: of, name: 'a' }, 'Unavailable', 'it is switched off');
    expect(await choose(ask(), underWay)).toBe(gone);
    contents.remove({ kind: of, name: 'a' });
    expect(await choose(ask(), underWay)).toBe(gone);
  });

  test('ends when another version is requested', async () => {
    contents.serve({ name: 'b' }, aPackage());
    contents.lose({ name: 'a' }, 'Failed', 'registry down');
    expect(await choose(operator({ version: '<1.1.0' }), underWay)).toBe('painter.v1.0.0');
  });

  test('goes on from another catalog that has the same image, or a higher version', async () => {
    contents.lose({ name: 'a' }, 'Failed', 'registry down');
    contents.serve({ name: 'b' }, aPackage({ versions: ['1.0.0', '1.1.0'] }));
    expect(await choose(operator(), underWay)).toBe('painter.v1.1.0');
    contents.serve({ name: 'b' }, aPackage({ versions: ['1.0.0', '1.2.0'] }));
    expect(await choose(operator(), underWay)).toBe(lost);
    contents.remove({ name: 'a' });
    expect(await choose(operator(), underWay)).toBe('painter.v1.2.0');
  });
});

describe('an upgrade that no catalog has any more', () => {
  const installed = aBundleRecord('1.0.0');
  /** Core is at the upgrade to 1.1.0, and has begun with it or not. */
  function upgradingOf(extension: Extension, isBegun: boolean): Installation {
    const { status, ...deployment } = installedDeployment(extension.object, '1.1.0');
    const { activeBundle } = status as { readonly activeBundle: string };
    const applied = isBegun ? { begun: activeBundle } : {};
    return {
      ...upgrading(installed, aBundleRecord('1.1.0')),
      deployment: { ...deployment, status: { applied } } as unknown as BundleDeployment,
    };
  }
  const kept =
    'failed: no catalog has bundle "painter.v1.1.0" any more, which core has begun to install, and the controller does not replace it by "painter.v1.0.0", which has a lower version: request a version range without 1.1.0 to go back';

  test.each([
    ['Catalog', operator, 'Ignore'],
    ['ClusterCatalog', extension, 'SelfCertified'],
  ] as const)('stays where core has begun, of a %s', async (of, ask, any) => {
    contents.serve({ kind: of }, aPackage());
    expect(await choose(ask(), upgradingOf(ask(), true))).toBe(kept);
    expect(await choose(ask(), upgradingOf(ask(), false))).toBe('painter.v1.0.0');
    const asked = ask({ version: '<1.1.0' });
    expect(await choose(asked, upgradingOf(asked, true))).toBe('painter.v1.0.0');
    const ignoring = ask({ upgradeConstraintPolicy: any });
    expect(await choose(ignoring, upgradingOf(ignoring, true))).toBe('painter.v1.0.0');
  });

  test('gives way to a higher version, and to another channel while a catalog has it', async () => {
    const upgradeOf = (version: string) => aPackage({ versions: ['1.0.0', version] });
    contents.serve({}, upgradeOf('1.2.0'));
    expect(await choose(operator(), upgradingOf(operator(), true))).toBe('painter.v1.2.0');
    const old = operator({ channel: 'old' });
    const channels = [aChannel('old', ['painter.v1.0.0'])];
    contents.serve({}, { ...upgradeOf('1.1.0'), channels });
    expect(await choose(old, upgradingOf(old, true))).toBe('painter.v1.0.0');
  });
});

describe('what is installed from a catalog that is gone', () => {
  const installed = having(aBundleRecord('2.0.0', { catalog: 'a' }));
  const kept = (version: string) =>
    `failed: catalog "a", which bundle "painter.v2.0.0" is from, is not available any more, and the controller does not replace it by "painter.v${version}" of catalog "b", which has a lower version: make catalog "a" available, or request a version range without 2.0.0`;

  test.each([
    ['Catalog', operator, 'Ignore'],
    ['ClusterCatalog', extension, 'SelfCertified'],
  ] as const)('is not replaced by a lower version of another %s', async (...row) => {
    const [of, ask, upgradeConstraintPolicy] = row;
    contents.serve({ kind: of, name: 'b' }, aPackage({ versions: ['1.0.0', '1.5.0'] }));
    expect(await choose(ask({ upgradeConstraintPolicy }), installed)).toBe(kept('1.5.0'));
    const wanted = ask({ upgradeConstraintPolicy, version: '>=1.0.0' });
    expect(await choose(wanted, installed)).toBe(kept('1.5.0'));
  });

  test('is downgraded when the requested range is without it', async () => {
    contents.serve({ name: 'b' }, aPackage({ versions: ['1.0.0', '1.5.0'] }));
    const wanted = operator({ upgradeConstraintPolicy: 'Ignore', version: '<1.5.0' });
    expect(await choose(wanted, installed)).toBe('painter.v1.0.0');
  });

  test('is upgraded from another catalog, along the allowed upgrades', async () => {
    const versions = ['2.0.0', '2.1.0', '3.0.0'];
    contents.serve({ kind, name: 'b' }, aPackage({ versions, imageOf: (v) => `b/painter:${v}` }));
    expect(await choose(extension(), installed)).toBe('painter.v2.1.0');
    const any = extension({ upgradeConstraintPolicy: 'SelfCertified' });
    expect(await choose(any, installed)).toBe('painter.v3.0.0');
  });

  test('is downgraded while the catalog has content, as the policy allows', async () => {
    contents.serve({ name: 'a' }, aPackage({ versions: ['1.0.0', '1.5.0'] }));
    const ignoring = operator({ upgradeConstraintPolicy: 'Ignore' });
    expect(await choose(ignoring, installed)).toBe('painter.v1.5.0');
  });
});

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
