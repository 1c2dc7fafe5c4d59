import { expect, it } from 'vitest';
import { Budget, BudgetError } from '../budget.ts';
import { type GroupVersionKind, possiblePackages } from './index.ts';

const api = (kind: string) => ({ gvk: { group: 'g.io', version: 'v1', kind } });
const inPackage = (packageName: string) => ({ package: { packageName, versionRange: '1.x' } });
const rule = { cel: { rule: 'true' } };
const all = (...constraints: readonly object[]) => ({ all: { constraints } });
const any = (...constraints: readonly object[]) => ({ any: { constraints } });
const not = (...constraints: readonly object[]) => ({ not: { constraints } });

const providers: Readonly<Record<string, readonly string[]>> = { A: ['a'], B: ['b', 'a'] };

function named(type: string, value: unknown) {
  const providing = ({ group, version, kind }: GroupVersionKind) => {
    expect([group, version]).toEqual(['g.io', 'v1']);
    return providers[kind] ?? [];
  };
  return possiblePackages({ type, value }, providing, new Budget());
}

it('a package, and the packages that provide an API', () => {
  expect(named('olm.package.required', inPackage('a').package)).toEqual(['a']);
  expect(named('olm.gvk.required', api('B').gvk)).toEqual(['a', 'b']);
  expect(named('olm.gvk.required', api('C').gvk)).toEqual([]);
});

it.each<[string, object, readonly string[] | undefined]>([
  ['a package', inPackage('a'), ['a']],
  ['an API', api('B'), ['a', 'b']],
  ['all: what all of them name', all(api('A'), api('B')), ['a']],
  ['all: nothing meets both', all(inPackage('x'), api('B')), []],
  ['all with an expression', all(inPackage('x'), rule), ['x']],
  ['any', any(inPackage('x'), api('B')), ['a', 'b', 'x']],
  ['any with an expression', any(inPackage('x'), rule), undefined],
  ['none of them', not(inPackage('x')), undefined],
  ['all with none of them', all(api('B'), not(inPackage('a'))), ['a', 'b']],
  ['an expression', rule, undefined],
  ['an empty list', all(), undefined],
  [
    'names of fields in any case',
    { ANY: { Constraints: [{ GVK: { ...api('B').gvk } }] } },
    ['a', 'b'],
  ],
  ['nested', all(any(inPackage('x'), inPackage('a')), api('A')), ['a']],
])('a constraint on %s', (...[, value, expected]) => {
  expect(named('olm.constraint', value)).toEqual(expected);
});

it('what cannot be read, and other types, name nothing', () => {
  for (const value of [
    null,
    'x',
    {},
    { packageName: 1 },
    { all: 1 },
    { all: { constraints: [1] } },
  ]) {
    expect(named('olm.package.required', value)).toBeUndefined();
    expect(named('olm.constraint', value)).toBeUndefined();
  }
  expect(named('olm.label.required', { label: 'x' })).toBeUndefined();
});

it.each([
  ['an API that many packages provide, again and again', all],
  ['any of them, again and again', any],
])('%s, takes too many steps', (_, list) => {
  const many = Array.from({ length: 1000 }, (_unused, index) => `p${index}`);
  const value = list(...Array.from({ length: 100 }, () => api('A')));
  const budget = new Budget({ steps: 500_000 });
  const constraint = { type: 'olm.constraint', value };
  expect(() => possiblePackages(constraint, () => many, budget)).toThrow(BudgetError);
});
