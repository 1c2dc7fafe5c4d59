import { describe, expect, it } from 'vitest';
import {
  aBundle,
  anEntry,
  aPackage,
  aRequest,
  contentsOf,
  nothingAround,
} from '../../test/helpers/package-contents.ts';
import type { Deprecation, PackageContent } from '../candidates/index.ts';
import { versionText } from '../versions/index.ts';
import { type PackageRequest, type PackageResolution, resolvePackage } from './index.ts';

function resolve(
  wish: Partial<PackageRequest>,
  ...packages: readonly PackageContent[]
): PackageResolution {
  const request = aRequest({ profile: 'extension', upgrades: 'graph', ...wish });
  return resolvePackage(request, contentsOf(...packages), nothingAround);
}

function answer(resolution: PackageResolution): string {
  if (resolution.kind === 'failed') return resolution.message;
  const { bundle, catalog } = resolution;
  return `${bundle.version === undefined ? bundle.name : versionText(bundle.version)} of ${catalog.name}`;
}

function installed(version: string): Partial<PackageRequest> {
  return { installed: { by: 'name', name: `p.v${version}`, version } };
}

const deprecated: Deprecation = { schema: 'olm.bundle', name: 'p.v1.2.0', message: 'old' };

describe('a ClusterExtension gets', () => {
  const chain = aPackage({ bundles: ['1.0.0', '1.1.0', '1.2.0', '2.0.0'] });
  const jumps = aPackage({
    bundles: ['1.0.0', '1.1.0', '1.2.0', '2.0.0'],
    channels: {
      stable: ['1.0.0', anEntry('p', '1.1.0', { replaces: '1.0.0' })],
      fast: [
        anEntry('p', '1.2.0', { skips: ['1.0.0'] }),
        anEntry('p', '2.0.0', { replaces: '1.2.0', skipRange: '>=1.1.0 <2.0.0' }),
      ],
    },
  });

  it.each<[string, Partial<PackageRequest>, PackageContent, string]>([
    ['the highest version', {}, chain, '2.0.0 of a'],
    [
      'one of several channels',
      { channels: ['stable', 'none'], version: '1.x' },
      jumps,
      '1.1.0 of a',
    ],
    ['the next step of a chain, majors too', installed('1.2.0'), chain, '2.0.0 of a'],
    ['no more than a step', installed('1.0.0'), chain, '1.1.0 of a'],
    ['the highest step of all channels', installed('1.0.0'), jumps, '1.2.0 of a'],
    [
      'the steps of requested channels alone',
      { ...installed('1.0.0'), channels: ['stable'] },
      jumps,
      '1.1.0 of a',
    ],
    ['a step by skipRange', installed('1.1.0'), jumps, '2.0.0 of a'],
    ['what is installed, without a step', installed('2.0.0'), chain, '2.0.0 of a'],
    [
      'any version with SelfCertified',
      { ...installed('2.0.0'), upgrades: 'any', version: '<2' },
      chain,
      '1.2.0 of a',
    ],
    [
      'a bundle that is not deprecated',
      { version: '1.x' },
      { ...chain, deprecations: [deprecated] },
      '1.1.0 of a',
    ],
    [
      'a deprecated bundle if nothing else is left',
      { version: '1.2.0' },
      { ...chain, deprecations: [deprecated] },
      '1.2.0 of a',
    ],
  ])('%s', (...[, wish, content, expected]) => {
    expect(answer(resolve(wish, content))).toBe(expected);
  });

  it('the highest release of a version, and stays at exactly its own', () => {
    const content = aPackage({
      bundles: ['1.0.0+1', '1.0.0+10', '1.0.0+9', '1.0.0'],
      channels: {},
    });
    expect(answer(resolve({}, content))).toBe('1.0.0+10 of a');
    expect(answer(resolve(installed('1.0.0+9'), content))).toBe('1.0.0+9 of a');
  });

  it('the bundle of the catalog with the highest priority, and no deprecated one before others', () => {
    const low = aPackage({ catalog: 'low', priority: -1, bundles: ['3.0.0'] });
    const high = aPackage({ catalog: 'high', priority: 5, bundles: ['1.0.0', '1.2.0'] });
    const old = { ...high, deprecations: [deprecated, { ...deprecated, name: 'p.v1.0.0' }] };
    expect(answer(resolve({}, low, high))).toBe('1.2.0 of high');
    expect(answer(resolve({}, low, old))).toBe('3.0.0 of low');
  });

  it('the deprecations of the package, of requested channels and of the bundle', () => {
    const deprecations: readonly Deprecation[] = [
      { schema: 'olm.package', name: '', message: 'package' },
      { schema: 'olm.channel', name: 'stable', message: 'stable' },
      { schema: 'olm.channel', name: 'other', message: 'other' },
      deprecated,
      { ...deprecated, name: 'p.v1.1.0' },
    ];
    const content = aPackage({ bundles: ['1.2.0'], deprecations });
    const resolution = resolve({ channels: ['stable'] }, content);
    expect(resolution.deprecations.map(({ message }) => message)).toEqual([
      'package',
      'stable',
      'old',
    ]);
  });
});

describe('a ClusterExtension fails', () => {
  const content = aPackage({ bundles: ['1.0.0', '1.1.0', '1.2.0'] });

  it.each<[string, Partial<PackageRequest>, string]>([
    ['no-candidates', { packageName: 'q' }, 'no bundles found for package "q"'],
    [
      'no-candidates',
      { version: '3.x', channels: ['stable', 'beta'] },
      'no bundles found for package "p" matching version "3.x" in channels [stable beta]',
    ],
    [
      'unsatisfiable',
      { ...installed('1.0.0'), version: '1.2.0' },
      'error upgrading from currently installed version "1.0.0": no bundles found for package "p" matching version "1.2.0"',
    ],
    [
      'no-candidates',
      { packageName: 'q', ...installed('x') },
      'error upgrading from currently installed version "x": no bundles found for package "q"',
    ],
    [
      'invalid-version',
      { version: '1.2.3.4' },
      'desired version range "1.2.3.4" is invalid: improper constraint: 1.2.3.4',
    ],
    [
      'no-candidates',
      installed('1.0'),
      'error walking catalogs: error finding upgrade edges: failed to get version and release of installed bundle: No Major.Minor.Patch elements found',
    ],
  ])('as %s: %j', (reason, wish, message) => {
    expect(resolve(wish, content)).toMatchObject({ kind: 'failed', reason, message });
  });

  it('between catalogs with the same priority, and says which', () => {
    const packages = ['b', 'a', 'c'].map((catalog) =>
      aPackage({ catalog, priority: catalog === 'c' ? -1 : 0, bundles: ['1.0.0'] }),
    );
    const resolution = resolve({ version: '1.x' }, ...packages);
    expect(resolution).toMatchObject({
      reason: 'unsatisfiable',
      message:
        'found bundles for package "p" matching version "1.x" in multiple catalogs with the same priority [a b c]',
    });
    expect(resolution.kind === 'failed' && resolution.explanation.suggestions[0]).toBe(
      'Give one of the catalogs "a", "b", "c" a higher priority, or select one with spec.source.catalog.selector.',
    );
  });

  it('on a bundle without a valid version', () => {
    const bare = { ...aBundle('p', '1'), properties: [] };
    expect(answer(resolve({}, aPackage({ bundles: [bare] })))).toBe(
      'error getting resolved bundle version for bundle "p.v1": no package property found in bundle "p.v1"',
    );
    expect(answer(resolve({}, aPackage({ bundles: ['1.02.3'] })))).toBe(
      'error getting resolved bundle version for bundle "p.v1.02.3": Minor number must not contain leading zeroes "02"',
    );
  });
});
