import { expect, it } from 'vitest';
import {
  aBundle,
  aPackage,
  aRequest,
  contentsOf,
  nothingAround,
} from '../../test/helpers/package-contents.ts';
import type { Bundle, PackageContent } from '../candidates/index.ts';
import { explainPackage, type PackageRequest, resolvePackage } from './index.ts';

/** A bundle that requires package `d`, or for one of `d` package `p`. */
function requiring(version: string, versionRange: string, of = 'p'): Bundle {
  const value = { packageName: of === 'd' ? 'p' : 'd', versionRange };
  return aBundle(of, version, { properties: [{ type: 'olm.package.required', value }] });
}

function answer(packages: readonly PackageContent[], wish: Partial<PackageRequest> = {}) {
  const resolution = resolvePackage(aRequest(wish), contentsOf(...packages), nothingAround);
  if (resolution.kind === 'failed') return resolution.message.split('\n');
  return [resolution.bundle.name, resolution.newest.notTaken];
}

const d = (...versions: readonly string[]) => aPackage({ name: 'd', bundles: versions });

it('an Operator gets the highest version, and older bundles may require what is missing', () => {
  const bundles = [requiring('1.0.0', '>=9.0.0'), requiring('2.0.0', '>=2.0.0')];
  expect(answer([aPackage({ bundles }), d('1.0.0', '2.0.0')])).toEqual(['p.v2.0.0', undefined]);
});

it('an Operator gets an older version if the packages that the newest requires do not fit', () => {
  const e = aPackage({ name: 'e', bundles: [requiring('1.0.0', '<2.0.0', 'e')] });
  const newest = requiring('2.0.0', '>=2.0.0');
  const value = { packageName: 'e', versionRange: '1.x' };
  const properties = [...newest.properties, { type: 'olm.package.required', value }];
  const bundles = [aBundle('p', '1.0.0'), { ...newest, properties }];
  expect(answer([aPackage({ bundles }), d('1.0.0', '2.0.0'), e])).toEqual([
    'p.v1.0.0',
    'Version 2.0.0 is not installable with the packages that it requires: "d" in version range ">=2.0.0", "e" in version range "1.x".',
  ]);
});

it('an Operator fails if the catalogs lack what its newest bundle requires', () => {
  const bundles = [aBundle('p', '0.1.0'), requiring('1.0.0', '>=2.0.0')];
  const packages = [aPackage({ bundles }), d('1.0.0')];
  expect(answer(packages)).toEqual([
    'could not determine dependencies for bundle "p.v1.0.0" from package "p" in catalog "a": no bundles found matching required package "d" in range ">=2.0.0"',
  ]);
  const { suggestions, considered } = explainPackage(
    aRequest(),
    contentsOf(...packages),
    nothingAround,
  );
  expect(considered.map(({ reason }) => reason)).toEqual([
    'not installable with the packages that it requires: "d" in version range ">=2.0.0"',
    'lower than 1.0.0',
  ]);
  expect(suggestions[0]).toBe('Make a catalog available that has package "d" in range ">=2.0.0".');
});

it('an Operator fails if two of its dependencies need different versions of a package', () => {
  const e = aPackage({ name: 'e', bundles: [requiring('1.0.0', '<2.0.0', 'e')] });
  const bundle = requiring('1.0.0', '>=2.0.0');
  const value = { packageName: 'e', versionRange: '1.x' };
  const properties = [...bundle.properties, { type: 'olm.package.required', value }];
  const packages = [aPackage({ bundles: [{ ...bundle, properties }] }), d('1.0.0', '2.0.0'), e];
  expect(answer(packages)).toEqual([
    'constraints not satisfiable:',
    'd package uniqueness permits at most 1 of a-d-d.v2.0.0, a-d-d.v1.0.0',
    'a-e-e.v1.0.0 requires at least one of a-d-d.v1.0.0',
    'a-p-p.v1.0.0 requires at least one of a-d-d.v2.0.0',
    'a-p-p.v1.0.0 requires at least one of a-e-e.v1.0.0',
    'required package p requires at least one of a-p-p.v1.0.0',
    'required package p is mandatory',
  ]);
});

it('an older bundle that requires what is missing is one of the reasons', () => {
  const e = aPackage({ name: 'e', bundles: [requiring('1.0.0', '<2.0.0', 'e')] });
  const newest = requiring('2.0.0', '>=2.0.0');
  const value = { packageName: 'e', versionRange: '1.x' };
  const properties = [...newest.properties, { type: 'olm.package.required', value }];
  const bundles = [requiring('1.0.0', '>=9.0.0'), { ...newest, properties }];
  const lines = answer([aPackage({ bundles }), d('1.0.0', '2.0.0'), e]);
  expect(lines).toContain('a-p-p.v1.0.0 has a dependency without any candidates to satisfy it');
  expect(lines).toContain('required package p requires at least one of a-p-p.v2.0.0, a-p-p.v1.0.0');
});

it('no name of a package is taken for a constraint', () => {
  const requires = (packageName: string, versionRange: string) => ({
    type: 'olm.package.required',
    value: { packageName, versionRange },
  });
  const packages = [
    aPackage({
      name: 'uniqueness',
      bundles: [
        aBundle('uniqueness', '1.0.0', {
          properties: [requires('required', '>=2.0.0'), requires('e', '1.x')],
        }),
      ],
    }),
    aPackage({
      name: 'e',
      bundles: [aBundle('e', '1.0.0', { properties: [requires('required', '<2.0.0')] })],
    }),
    aPackage({ name: 'required', bundles: ['1.0.0', '2.0.0'] }),
  ];
  const lines = answer(packages, { packageName: 'uniqueness' });
  expect(lines[0]).toBe('constraints not satisfiable:');
  expect(lines).toContain('required package uniqueness is mandatory');
  expect(lines).toContain(
    'required package uniqueness permits at most 1 of a-required-required.v2.0.0, a-required-required.v1.0.0',
  );
});

it('packages may require one another, and ignore ranges that cannot be read', () => {
  const round = aPackage({ name: 'd', bundles: [requiring('1.0.0', '1.x', 'd')] });
  const packages = [aPackage({ bundles: [requiring('1.0.0', '1.x')] }), round];
  expect(answer(packages)).toEqual(['p.v1.0.0', undefined]);
  expect(answer([aPackage({ bundles: [requiring('1.0.0', '^1')] })])).toEqual([
    'p.v1.0.0',
    undefined,
  ]);
});
