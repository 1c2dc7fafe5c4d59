import { describe, expect, it } from 'vitest';
import {
  aBundle,
  anEntry,
  aPackage,
  aRequest,
  contentsOf,
  nothingAround,
} from '../../test/helpers/package-contents.ts';
import type { PackageContent } from '../candidates/index.ts';
import { versionText } from '../versions/index.ts';
import { type PackageRequest, type PackageResolution, resolvePackage } from './index.ts';

function resolve(
  wish: Partial<PackageRequest>,
  ...packages: readonly PackageContent[]
): PackageResolution {
  return resolvePackage(aRequest(wish), contentsOf(...packages), nothingAround);
}

/** The version and its catalog, or the message. */
function answer(resolution: PackageResolution): string {
  if (resolution.kind === 'failed') return resolution.message;
  const { bundle, catalog } = resolution;
  return `${bundle.version === undefined ? bundle.name : versionText(bundle.version)} of ${catalog.name}`;
}

function installed(version: string, packageName = 'p'): Partial<PackageRequest> {
  const image = `registry/${packageName}:v${version}`;
  return { installed: { by: 'image', image, deployment: 'mine' } };
}

describe('an Operator gets', () => {
  const content = aPackage({
    bundles: ['1.0.0', '1.1.0', '1.2.0', '2.0.0', '2.1.0-rc.1'],
    channels: { stable: ['1.0.0', '1.1.0', '1.2.0'], beta: ['1.2.0', '2.0.0'] },
  });

  it.each<[string, Partial<PackageRequest>, string]>([
    ['the highest version, prereleases included', {}, '2.1.0-rc.1 of a'],
    ['no prerelease of a range', { version: '*' }, '2.0.0 of a'],
    ['the highest version of a channel', { channels: ['stable'] }, '1.2.0 of a'],
    ['the highest version of a range', { version: '1.1' }, '1.1.0 of a'],
    ['both', { version: '<2', channels: ['beta'] }, '1.2.0 of a'],
    ['upgrades without a breaking change', installed('1.0.0'), '1.2.0 of a'],
    [
      'what is installed, if no upgrade is requested',
      { ...installed('1.1.0'), version: '<=1.1' },
      '1.1.0 of a',
    ],
    [
      'a downgrade if it asks for it',
      { ...installed('2.0.0'), version: '1.x', upgrades: 'any' },
      '1.2.0 of a',
    ],
    [
      'any version, if it ignores edges, though a catalog lacks the installed image',
      { ...installed('9.9.9'), upgrades: 'any', version: '*' },
      '2.0.0 of a',
    ],
  ])('%s', (_, wish, expected) => {
    expect(answer(resolve(wish, content))).toBe(expected);
  });

  it('the next bundle that replaces the installed one, in any channel and catalog', () => {
    const other = aPackage({
      catalog: 'b',
      bundles: ['1.5.0'],
      channels: { x: [anEntry('p', '1.5.0', { replaces: '1.0.0' })] },
    });
    const chain = aPackage({ bundles: ['1.0.0', '1.1.0', '1.2.0'] });
    const wish = { ...installed('1.0.0'), upgrades: 'replaces' as const };
    expect(answer(resolve(wish, chain))).toBe('1.1.0 of a');
    expect(answer(resolve(wish, chain, other))).toBe('1.5.0 of b');
  });

  it('the bundle of the first catalog by name, of equal versions', () => {
    const packages = ['c', 'a', 'b'].map((catalog) =>
      aPackage({ catalog, bundles: [catalog === 'b' ? '1.0.0+2' : '1.0.0'] }),
    );
    expect(answer(resolve({}, ...packages))).toBe('1.0.0 of a');
    expect(answer(resolve({}, ...packages.toReversed()))).toBe('1.0.0 of a');
  });

  it('a bundle without a valid version last, and never by a range', () => {
    const odd = aPackage({ bundles: ['latest', '1.0.0'] });
    expect(answer(resolve({}, odd))).toBe('1.0.0 of a');
    expect(answer(resolve({}, aPackage({ bundles: ['latest'] })))).toBe('p.vlatest of a');
    expect(answer(resolve({ version: '*' }, aPackage({ bundles: ['latest'] })))).toBe(
      'no package "p" matching version "*" found',
    );
  });

  it('bundles of packages with dots and capitals', () => {
    const content = aPackage({ name: 'P.Operator', bundles: ['1.0.0'] });
    expect(answer(resolve({ packageName: 'P.Operator' }, content))).toBe('1.0.0 of a');
  });
});

describe('an Operator fails', () => {
  const content = aPackage({ bundles: ['1.0.0', '2.0.0'] });

  it.each<[string, Partial<PackageRequest>, string]>([
    ['no-candidates', { packageName: 'q' }, 'no package "q" found'],
    [
      'no-candidates',
      { packageName: 'q', version: '1', channels: ['c'] },
      'no package "q" matching version "1" found in channel "c"',
    ],
    ['no-candidates', { channels: ['beta'] }, 'no package "p" found in channel "beta"'],
    ['no-candidates', { version: '3.x' }, 'no package "p" matching version "3.x" found'],
    [
      'no-candidates',
      { version: '3.x', channels: ['stable'] },
      'no package "p" matching version "3.x" found in channel "stable"',
    ],
    [
      'invalid-version',
      { version: '1.2.3.4' },
      'validation has not been attempted as spec is invalid',
    ],
    [
      'no-candidates',
      installed('9.9.9'),
      'bundle with image "registry/p:v9.9.9" for package "p" not found in available catalogs but is currently installed via BundleDeployment "mine"',
    ],
    [
      'no-candidates',
      { ...installed('9.9.9'), version: '3' },
      'no package "p" matching version "3" found',
    ],
  ])('as %s: %j', (reason, wish, message) => {
    expect(resolve(wish, content)).toMatchObject({ kind: 'failed', reason, message });
  });

  it('with the conflict between what is requested and what upgrades allow', () => {
    const content = aPackage({ bundles: ['1.0.0', '1.1.0', '2.0.0', '2.1.0'] });
    const resolution = resolve({ ...installed('1.0.0'), version: '2.x' }, content);
    expect(resolution).toMatchObject({ kind: 'failed', reason: 'unsatisfiable' });
    expect(answer(resolution).split('\n')).toEqual([
      'constraints not satisfiable:',
      'p package uniqueness permits at most 1 of a-p-p.v2.1.0, a-p-p.v2.0.0, a-p-p.v1.1.0, a-p-p.v1.0.0',
      'installed package p requires at least one of a-p-p.v1.1.0, a-p-p.v1.0.0',
      'installed package p is mandatory',
      'required package p requires at least one of a-p-p.v2.1.0, a-p-p.v2.0.0',
      'required package p is mandatory',
    ]);
  });

  it('on a channel entry without a bundle', () => {
    const content = aPackage({ bundles: ['1.0.0'], channels: { stable: ['1.0.0', '1.1.0'] } });
    expect(answer(resolve({}, content))).toBe(
      'bundle "p.v1.1.0" not found in catalog "a" (package "p", channel "stable")',
    );
  });
});

describe('a large channel', () => {
  const versions = Array.from({ length: 100_000 }, (_, index) => `1.${index}.0`);
  const content = aPackage({ bundles: versions.map((version) => aBundle('p', version)) });

  it('of 100,000 entries is resolved, and its failure is explained by ten bundles', {
    tags: ['slow'],
  }, () => {
    expect(answer(resolve(installed('1.0.0'), content))).toBe('1.99999.0 of a');
    const failed = resolve({ version: '2.x' }, content);
    if (failed.kind !== 'failed') throw new Error('it must fail');
    const [group] = failed.explanation.considered;
    expect(group?.bundles.length).toBe(10);
    expect(group?.more).toBe(99_990);
  });
});
