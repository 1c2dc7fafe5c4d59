import { describe, expect, test } from 'vitest';
import {
  aBundle,
  anEntry,
  aPackage,
  aRequest,
  contentsOf,
  nothingAround,
} from '../../test/helpers/package-contents.ts';
import { Budget } from '../budget.ts';
import type { PackageContent } from '../candidates/index.ts';
import { type PackageRequest, type PackageResolution, resolvePackage } from './index.ts';

const upgrading: Partial<PackageRequest> = {
  profile: 'extension',
  upgrades: 'graph',
  installed: { by: 'name', name: 'p.v1.0.0', version: '1.0.0' },
};

function resolve(
  contents: PackageContent | readonly PackageContent[],
  wish: Partial<PackageRequest> = {},
  budget = new Budget(),
): PackageResolution {
  const packages = contentsOf(...[contents].flat());
  return resolvePackage(aRequest(wish), packages, { ...nothingAround, budget });
}

function textOf(resolution: PackageResolution): string {
  return resolution.kind === 'resolved' ? resolution.bundle.name : resolution.message;
}

function versions(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `1.${index}.0`);
}

function requiring(versionRange: string) {
  return { type: 'olm.package.required', value: { packageName: 'd', versionRange } };
}

function rule(text: string) {
  return { type: 'olm.constraint', value: { failureMessage: 'no', cel: { rule: text } } };
}

describe('a channel', () => {
  test.each([
    ['with a cycle', { '1.0.0': '1.2.0', '1.1.0': '1.0.0', '1.2.0': '1.1.0' }, 'p.v1.1.0'],
    ['with two heads', { '1.0.0': '', '1.1.0': '1.0.0', '1.2.0': '1.0.0' }, 'p.v1.2.0'],
    ['whose entry replaces itself', { '1.0.0': '1.0.0', '1.1.0': '1.0.0' }, 'p.v1.1.0'],
    ['whose entry replaces what no catalog has', { '1.1.0': '0.1.0' }, 'p.v1.0.0'],
  ])('%s gives each object its answer', (_, edges, expected) => {
    const entries = Object.entries(edges).map(([version, replaces]) =>
      anEntry('p', version, { replaces }),
    );
    const bundles = ['1.0.0', '1.1.0', '1.2.0'];
    const content = aPackage({ bundles, channels: { stable: entries } });
    expect(textOf(resolve(content, upgrading))).toBe(expected);
    expect(textOf(resolve(content))).toBe('p.v1.2.0');
  });

  test('of 100,000 entries is resolved, and its failure explained', { tags: ['slow'] }, () => {
    const content = aPackage({ bundles: versions(100_000) });
    expect(textOf(resolve(content))).toBe('p.v1.99999.0');
    expect(textOf(resolve(content, upgrading))).toBe('p.v1.1.0');
    const failed = resolve(content, { ...upgrading, version: '>=9' });
    expect(failed).toMatchObject({
      reason: 'no-candidates',
      explanation: { considered: [{ more: 0 }, { more: 99_990 }] },
    });
  });
});

test('catalogs that disagree on a package are each read as they are', () => {
  const one = aPackage({ catalog: 'a', bundles: ['1.0.0', aBundle('p', '1.1.0', { image: 'a' })] });
  const other = aPackage({
    catalog: 'b',
    bundles: [aBundle('p', '1.1.0', { image: 'b' }), '1.0.0'],
    channels: { fast: [anEntry('p', '1.0.0', { replaces: '1.1.0' })] },
    deprecations: [{ schema: 'olm.bundle', name: 'p.v1.1.0', message: 'old' }],
  });
  expect(resolve([one, other])).toMatchObject({ bundle: { image: 'a' }, catalog: { name: 'a' } });
  expect(textOf(resolve([other, one], upgrading))).toBe(
    'error upgrading from currently installed version "1.0.0": found bundles for package "p" in multiple catalogs with the same priority [a b]',
  );
  const fast = resolve([one, other], { channels: ['fast'], version: '1.0.0' });
  expect(fast).toMatchObject({ bundle: { name: 'p.v1.0.0' }, catalog: { name: 'b' } });
});

describe('a text of a megabyte', () => {
  test.each([
    ['a range that cannot be read', requiring('?'.repeat(1_000_000)), /^p\.v1\.0\.0$/],
    ['an expression', rule(`p == "${'x'.repeat(1_000_000)}"`), /^p\.v1\.0\.0$/],
    ['a range of many conditions', requiring('>1.0.0 '.repeat(140_000)), /takes more than/],
  ])('as %s is bounded', { tags: ['slow'] }, (_, property, expected) => {
    const bundles = [aBundle('p', '1.0.0', { properties: [property] })];
    const provider = aPackage({ name: 'd', bundles: versions(1000) });
    expect(textOf(resolve([aPackage({ bundles }), provider]))).toMatch(expected);
  });

  test('as a skipRange upgrades what is in it', { tags: ['slow'] }, () => {
    const entry = anEntry('p', '1.1.0', { skipRange: '>0.1.0 '.repeat(140_000) });
    const content = aPackage({ bundles: ['1.0.0', '1.1.0'], channels: { stable: [entry] } });
    expect(textOf(resolve(content, upgrading))).toBe('p.v1.1.0');
  });
});

describe('past its steps a resolution', () => {
  const nested = 'properties.all(a, properties.all(b, properties.all(c, a.type != b.type)))';
  const others = Array.from({ length: 30 }, (_, index) => ({ type: `t${index}`, value: index }));
  const rules = versions(2_000).map((_, index) => rule(`${nested} || ${index} == -1`));
  const skipping = versions(2_000).map((version) => anEntry('p', version, { skipRange: '<0.1.0' }));
  const web = Array.from({ length: 200 }, (_, number) =>
    aPackage({
      name: number === 0 ? 'p' : `d${number}`,
      bundles: versions(20).map((version) =>
        aBundle(number === 0 ? 'p' : `d${number}`, version, {
          properties: [1, 7, 31, 90].map((step) => ({
            type: 'olm.package.required',
            value: { packageName: `d${(number + step) % 200}`, versionRange: `!=${version}` },
          })),
        }),
      ),
    }),
  );

  test.each([
    [
      'of many rules',
      [aPackage({ bundles: [aBundle('p', '1.0.0', { properties: [...others, ...rules] })] })],
      {},
    ],
    ['of many bundles', [aPackage({ bundles: versions(60_000) })], {}],
    [
      'of many skipRanges',
      [aPackage({ bundles: versions(2_000), channels: { stable: skipping } })],
      upgrading,
    ],
    ['of many requirements', web, {}],
    [
      'of a long range',
      [aPackage({ bundles: versions(3_000) })],
      { version: Array(400).fill('!=9.0.0').join(', ') },
    ],
  ] as const)(
    '%s ends with one sentence, and the next one is not affected',
    (_, contents, wish) => {
      const failed = resolve(contents, wish, new Budget({ steps: 100_000 }));
      const sentence =
        'resolving package "p" takes more than 100000 steps: request one channel and a narrow version range, or ask the authors of its catalogs for fewer bundles, channel entries and constraints';
      expect(failed).toMatchObject({ reason: 'limit', message: sentence });
      expect(textOf(resolve(aPackage({ bundles: ['1.0.0'] })))).toBe('p.v1.0.0');
    },
  );

  test('evaluates no expression where none is allowed', () => {
    const content = aPackage({
      bundles: [aBundle('p', '1.0.0', { properties: [rule('true')] })],
    });
    const budget = new Budget({ allowsRules: false });
    expect(resolve(content, {}, budget)).toMatchObject({ reason: 'limit' });
    expect(resolve(content)).toMatchObject({ dependencies: [] });
  });
});
