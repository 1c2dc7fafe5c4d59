import { describe, expect, it } from 'vitest';
import { aBundleWith, found } from '../../../test/helpers/validated-bundle.ts';
import { isAtLeast, tolerantVersion } from '../optional/versions.ts';
import { properties } from './properties.ts';

function lines(...bundle: Parameters<typeof aBundleWith>): string[] {
  return found(properties, aBundleWith(...bundle)).map((line) =>
    line.replace(/csv\.yaml:\d+/, 'csv'),
  );
}

it('takes versions of three numbers, in quotes', () => {
  expect(lines({ spec: { version: '1.0.0' } })).toEqual([]);
  expect(lines({ spec: { version: 'v1.0' } })).toEqual([
    'E manifests/csv error parsing bundle "pkg.v1.0.0" version "v1.0": No Major.Minor.Patch elements found',
  ]);
  expect(lines({ spec: { version: 1 } })).toEqual([
    'E manifests/csv failed to derive properties: json: cannot unmarshal number into Go value of type string',
  ]);
});

it('takes releases with the name that belongs to them', () => {
  const spec = { version: '1.0.0', release: '2' };
  expect(lines({ spec, metadata: { name: 'pkg-v1.0.0-2' } })).toEqual([]);
  expect(lines({ spec, metadata: { annotations: { 'olm.substitutesFor': 'x' } } })).toEqual([
    'E manifests/csv bundle name with release versioning "pkg.v1.0.0" does not match expected name "pkg-v1.0.0-2"',
    'E manifests/csv spec.release cannot be combined with the annotation olm.substitutesFor',
  ]);
  expect(lines({ spec: { ...spec, release: 2 } })).toEqual([
    expect.stringContaining('spec.release of type string'),
  ]);
});

it('knows what is read by no tool', () => {
  const text =
    'properties:\n- property: {type: a, value: b}\n- {type: olm.package, value: {}}\n- {type: x, value: 1}\n';
  expect(lines({}, { 'metadata/properties.yaml': text })).toEqual([
    'W metadata/properties.yaml:2 a property below "property" is read by no tool',
    expect.stringContaining('W metadata/properties.yaml:3 olm.package is made from'),
  ]);
  expect(lines({ metadata: { annotations: { 'olm.properties': '[' } } })).toEqual([
    expect.stringContaining('W manifests/csv failed to unmarshal csv annotation properties: '),
  ]);
});

describe('versions', () => {
  it('are read tolerantly where the tools do', () => {
    expect(tolerantVersion(' v1.25')).toEqual([1, 25, 0]);
    expect(tolerantVersion('x')).toBeUndefined();
    expect(isAtLeast([1, 25, 0], [1, 25, 0])).toBe(true);
    expect(isAtLeast([1, 22, 9], [1, 25, 0])).toBe(false);
    expect(isAtLeast([2, 0, 0], [1, 25, 0])).toBe(true);
  });
});
