import { describe, expect, it } from 'vitest';
import { parseVersion } from '../versions/index.ts';
import { type Candidate, ConstraintError, constraintsOf } from './index.ts';

const blue = (version: string) => ({
  type: 'olm.package',
  value: { packageName: 'blue', version },
});
const green = {
  type: 'olm.gvk',
  value: { group: 'greens.example.com', version: 'v1', kind: 'Green' },
};
const anyBlue = { package: { packageName: 'blue', versionRange: '>=1.0.0' } };
const anyGreen = { gvk: green.value };

function candidate(...properties: Candidate['properties']): Candidate {
  return { packageName: 'somewhere', version: undefined, properties };
}

function requirementOf(type: string, value: unknown) {
  const [requirement, ...others] = constraintsOf([{ type, value }]);
  expect(others).toEqual([]);
  if (requirement === undefined) throw new Error(`${type} requires nothing`);
  return requirement;
}

const constraint = (value: unknown) => requirementOf('olm.constraint', value);

describe('constraints of a bundle', () => {
  it('are one requirement for each constraint property, in their order', () => {
    const found = constraintsOf([
      blue('1.0.0'),
      { type: 'olm.gvk.required', value: { ...green.value, plural: 'greens' } },
      { type: 'color', value: 'red' },
      { type: 'olm.kubeversion', value: { version: '>1.0' } },
      { type: 'olm.package.required', value: { packageName: 'blue', versionRange: '>=1.0.0' } },
      { type: 'olm.label.required', value: { label: 'dark' } },
      { type: 'olm.constraint', value: { failureMessage: 'paint it', ...anyGreen } },
    ]);
    expect(found.map(({ type, text, failureMessage }) => [type, text, failureMessage])).toEqual([
      [
        'olm.gvk.required',
        'providing an API with group: greens.example.com, version: v1, kind: Green',
        undefined,
      ],
      ['olm.package.required', 'with package: blue and with version in range: >=1.0.0', undefined],
      ['olm.label.required', 'with label: dark', undefined],
      [
        'olm.constraint',
        'providing an API with group: greens.example.com, version: v1, kind: Green',
        'paint it',
      ],
    ]);
  });

  it('an API is three equal texts of one property', () => {
    const { isMetBy } = requirementOf('olm.gvk.required', green.value);
    expect(isMetBy(candidate(blue('1.0.0'), green))).toBe(true);
    expect(isMetBy(candidate({ ...green, value: { ...green.value, version: 'v2' } }))).toBe(false);
    expect(isMetBy(candidate({ ...green, value: { ...green.value, kind: 3 } }))).toBe(false);
    expect(isMetBy(candidate({ ...green, value: { GROUP: 'greens.example.com' } }))).toBe(false);
    const upper = { GROUP: 'greens.example.com', Version: 'v1', kINd: 'Green', more: 1 };
    expect(isMetBy(candidate({ ...green, value: upper }))).toBe(true);
  });

  it('a package is its property or its name, in a range by its property or its version', () => {
    const { isMetBy } = requirementOf('olm.package.required', anyBlue.package);
    expect(isMetBy(candidate(blue('1.2.0')))).toBe(true);
    expect(isMetBy(candidate(blue('0.9.0')))).toBe(false);
    expect(isMetBy(candidate(blue('v1.2.0')))).toBe(false);
    const named = { packageName: 'blue', properties: [] };
    expect(isMetBy({ ...named, version: parseVersion('1.0.0') })).toBe(true);
    expect(isMetBy({ ...named, version: undefined })).toBe(false);
    // Upstream asks both questions apart: the version may be of the entry, the name of a property.
    expect(isMetBy({ ...candidate(blue('0.9.0')), version: parseVersion('1.0.0') })).toBe(true);
  });

  it('a label is that of a property', () => {
    const { isMetBy } = requirementOf('olm.label.required', { label: 'dark' });
    expect(isMetBy(candidate({ type: 'olm.label', value: { label: 'dark' } }))).toBe(true);
    expect(isMetBy(candidate({ type: 'olm.label', value: { label: 'light' } }))).toBe(false);
    expect(isMetBy(candidate({ type: 'label', value: { label: 'dark' } }))).toBe(false);
  });

  it('an invalid one is refused with the words of its parser', () => {
    const read = (type: string, value: unknown) => () => constraintsOf([{ type, value }]);
    expect(read('olm.package.required', { versionRange: '>=x' })).toThrow(
      new ConstraintError('Could not get version from string: ">=x"'),
    );
    expect(read('olm.label.required', { label: 3 })).toThrow(
      'json: cannot unmarshal number into Go struct field .label of type string',
    );
    expect(read('olm.label.required', [])).toThrow(
      'json: cannot unmarshal array into Go value of type struct { Label string "json:\\"label\\"" }',
    );
  });
});

describe('an olm.constraint', () => {
  it('all is a single bundle that meets every part', () => {
    const { isMetBy, text } = constraint({ all: { constraints: [anyBlue, anyGreen] } });
    expect(text).toBe(
      'with package: blue and with version in range: >=1.0.0 and providing an API with group: greens.example.com, version: v1, kind: Green',
    );
    expect(isMetBy(candidate(blue('1.0.0'), green))).toBe(true);
    expect(isMetBy(candidate(blue('1.0.0')))).toBe(false);
    expect(isMetBy(candidate(green))).toBe(false);
  });

  it('any is a bundle that meets one part', () => {
    const { isMetBy, text } = constraint({ any: { constraints: [anyBlue, anyGreen] } });
    expect(text).toContain('>=1.0.0 or providing an API');
    expect(isMetBy(candidate(green))).toBe(true);
    expect(isMetBy(candidate())).toBe(false);
  });

  it('not is a bundle that meets no part, and one part has no word for it', () => {
    const { isMetBy, text } = constraint({ not: { constraints: [anyBlue, anyGreen] } });
    expect(text).toContain('>=1.0.0 and not providing an API');
    expect(isMetBy(candidate(green))).toBe(false);
    expect(isMetBy(candidate(blue('0.1.0')))).toBe(true);
    expect(constraint({ not: { constraints: [anyGreen] } }).text).toBe(constraint(anyGreen).text);
  });

  it('empty lists: all and not are met by everything, any by nothing', () => {
    const met = (value: unknown) => constraint(value).isMetBy(candidate());
    expect(met({ all: { constraints: [] } })).toBe(true);
    expect(met({ not: {} })).toBe(true);
    expect(met({ any: { constraints: null } })).toBe(false);
  });

  it('uses the first of gvk, package, all, any, not', () => {
    const all = { constraints: [] };
    expect(constraint({ all, package: anyBlue.package, gvk: green.value }).text).toMatch(/API/);
    expect(constraint({ not: all, all, ...anyBlue }).text).toMatch(/package/);
    expect(constraint({ any: all, all }).isMetBy(candidate())).toBe(true);
    expect(constraint({ gvk: null, ...anyBlue }).text).toMatch(/package/);
  });

  it('has fields in any case, and those of both when a name comes twice', () => {
    const twice = { Gvk: { group: 'g', VERSION: 'v1' }, GVK: { kind: 'K', version: 'v2' } };
    expect(constraint(twice).text).toBe('providing an API with group: g, version: v2, kind: K');
  });

  it.each([
    [{ foo: 1 }, 'parse olm.constraint: json: unknown field "foo"'],
    [{ all: { constraints: [{ x: 1 }] } }, 'parse olm.constraint: json: unknown field "x"'],
    [{ ['__proto__x']: 1 }, 'parse olm.constraint: json: unknown field "__proto__x"'],
    [JSON.parse('{"__proto__": {}}'), 'parse olm.constraint: json: unknown field "__proto__"'],
    [{}, 'convert olm.constraint to resolver predicate: constraint is empty'],
    [null, 'convert olm.constraint to resolver predicate: constraint is empty'],
    [
      { all: { constraints: [anyBlue, {}] } },
      'convert olm.constraint to resolver predicate: constraint is empty',
    ],
    [
      { package: { versionRange: '>=x' } },
      'convert olm.constraint to resolver predicate: Could not get version from string: ">=x"',
    ],
    [
      'blue',
      'parse olm.constraint: json: cannot unmarshal string into Go value of type constraints.Constraint',
    ],
    [
      { all: { constraints: [{ gvk: { group: 1 } }] } },
      'parse olm.constraint: json: cannot unmarshal number into Go struct field GVKConstraint.all.constraints.gvk.group of type string',
    ],
    [
      { any: { constraints: {} } },
      'parse olm.constraint: json: cannot unmarshal object into Go struct field CompoundConstraint.any.constraints of type []constraints.Constraint',
    ],
    [
      { failureMessage: 'ü'.repeat(65_550) },
      'parse olm.constraint: olm.constraint value is greater than max constraint size 131072 bytes',
    ],
  ])('%.60j is refused', (value, message) => {
    expect(() => constraint(value)).toThrow(new ConstraintError(message));
  });

  it('is refused beyond a hundred levels, however deep it is', () => {
    const nested = (levels: number): unknown =>
      Array.from({ length: levels }).reduce<unknown>(
        (inner) => ({ not: { constraints: [inner] } }),
        anyGreen,
      );
    expect(constraint(nested(100)).isMetBy(candidate(green))).toBe(true);
    expect(() => constraint(nested(101))).toThrow('nest more than 100 deep');
    expect(() => constraint(nested(100_000))).toThrow(ConstraintError);
  });
});
