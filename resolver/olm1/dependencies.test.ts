import { expect, it } from 'vitest';
import { aBundle, aPackage, aRequest, contentsOf } from '../../test/helpers/package-contents.ts';
import type { Property } from '../candidates/index.ts';
import { type PresentBundle, resolvePackage } from './index.ts';

const gvk = { group: 'd.example.com', version: 'v1', kind: 'D' };
const owner = (...properties: readonly Property[]) =>
  aPackage({ bundles: [aBundle('p', '1.0.0', { properties })] });
const packageRequired = (versionRange: string) => ({
  type: 'olm.package.required',
  value: { packageName: 'd', versionRange },
});
const provider = aPackage({
  name: 'd',
  bundles: [aBundle('d', '1.0.0', { properties: [{ type: 'olm.gvk', value: gvk }] })],
});

function present(wish: Partial<PresentBundle> = {}): PresentBundle {
  return {
    packageName: 'd',
    bundle: aBundle('d', '1.0.0'),
    of: 'Operator "d"',
    isInstalled: true,
    ...wish,
  };
}

function dependencies(
  property: Property,
  around: readonly PresentBundle[],
): readonly (readonly [string, string | undefined])[] {
  const contents = contentsOf(owner(property), provider);
  const surroundings = { present: around, unavailable: [] };
  const request = aRequest({ profile: 'extension', upgrades: 'graph' });
  const resolution = resolvePackage(request, contents, surroundings);
  if (resolution.kind === 'failed') throw new Error(resolution.message);
  return resolution.dependencies.map(({ text, metBy }) => [text, metBy?.of]);
}

it.each<[string, Property, readonly PresentBundle[], string, string | undefined]>([
  [
    'met by version',
    packageRequired('>=1.0.0'),
    [present()],
    'package "d" in version range ">=1.0.0"',
    'Operator "d"',
  ],
  [
    'met by version, with names of fields in any case',
    { type: 'olm.package.required', value: { PackageName: 'd', versionrange: '>=1.0.0' } },
    [present()],
    'package "d" in version range ">=1.0.0"',
    'Operator "d"',
  ],
  [
    'not met by another version',
    packageRequired('>=2.0.0'),
    [present()],
    'package "d" in version range ">=2.0.0"',
    undefined,
  ],
  [
    'not met by nothing',
    packageRequired('>=1.0.0'),
    [],
    'package "d" in version range ">=1.0.0"',
    undefined,
  ],
  [
    'met by an API that the catalog knows',
    { type: 'olm.gvk.required', value: gvk },
    [present()],
    'an operator providing an API with group: d.example.com, version: v1, kind: D',
    'Operator "d"',
  ],
  [
    'met by a compound constraint',
    {
      type: 'olm.constraint',
      value: {
        all: { constraints: [{ gvk }, { package: { packageName: 'd', versionRange: '<2.0.0' } }] },
      },
    },
    [present()],
    'an operator providing an API with group: d.example.com, version: v1, kind: D and with package: d and with version in range: <2.0.0',
    'Operator "d"',
  ],
  [
    'unreadable',
    packageRequired('^1'),
    [present()],
    'what property "olm.package.required" names, which is invalid: Could not parse Range "^1": Could not parse comparator "^" in "^1"',
    undefined,
  ],
])('a dependency is %s', (...[, property, around, text, metBy]) => {
  expect(dependencies(property, around)).toEqual([[text, metBy]]);
});

it('an installed bundle meets it before one that is asked for, whatever their order', () => {
  const around = [
    present({ of: 'Operator "a"', isInstalled: false }),
    present({ of: 'Operator "c"' }),
    present({ of: 'Operator "b"' }),
  ];
  for (const order of [around, around.toReversed()]) {
    expect(dependencies(packageRequired('1.0.0'), order)[0]?.[1]).toBe('Operator "b"');
  }
});

it('what an object has of another package is not read for a requirement that names one', () => {
  const contents = contentsOf(owner(packageRequired('>=1.0.0')), provider);
  const read: string[] = [];
  const noting = {
    of: (name: string) => {
      read.push(name);
      return contents.of(name);
    },
  };
  const other = present({ packageName: 'e', bundle: aBundle('e', '1.0.0'), of: 'Operator "a"' });
  const request = aRequest({ profile: 'extension', upgrades: 'graph' });
  const around = { present: [other, present()], unavailable: [] };
  expect(resolvePackage(request, noting, around)).toMatchObject({
    dependencies: [{ metBy: { of: 'Operator "d"' } }],
  });
  expect([...new Set(read)]).toEqual(['p', 'd']);
});

it('a bundle that provides what it requires has no dependency', () => {
  const own = [
    { type: 'olm.gvk', value: gvk },
    { type: 'olm.gvk.required', value: gvk },
  ];
  const around = { present: [], unavailable: [] };
  const resolution = resolvePackage(aRequest(), contentsOf(owner(...own)), around);
  expect(resolution).toMatchObject({ kind: 'resolved', dependencies: [] });
});
