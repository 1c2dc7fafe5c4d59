import { expect, test } from 'vitest';
import type { JsonValue } from '../../core/sdk.ts';
import { aCsv, anObject, aRegistryBundle } from '../../test/helpers/registry-bundle.ts';
import { markSamples } from './samples.ts';

const group = 'iam.example.com';

function aDefinition(schema: JsonValue) {
  const versions = [{ name: 'v1', schema: { openAPIV3Schema: schema } }];
  const spec = { group, names: { kind: 'Role' }, scope: 'Namespaced', versions };
  return { ...anObject('CustomResourceDefinition'), spec };
}

function aRole(spec: JsonValue, name = 'example', apiVersion = `${group}/v1`) {
  return { apiVersion, kind: 'Role', metadata: { name }, spec };
}

const strict = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      required: ['name', 'size'],
      properties: {
        size: { type: 'integer', default: 1 },
        effect: { type: 'string', enum: ['Allow', 'Deny'] },
        name: { type: 'string', pattern: '^[a-z]+$' },
        notes: { type: 'string', nullable: true },
        rules: { type: 'array', items: { type: 'object', required: ['verb'] } },
      },
    },
  },
};

/** Why the object is to be left out of a bundle with this CRD and these examples. */
function reasonFor(
  object: ReturnType<typeof aRole>,
  examples: string | undefined,
  schema: JsonValue = strict,
) {
  const csv = aCsv(examples === undefined ? {} : { annotations: { 'alm-examples': examples } });
  const bundle = aRegistryBundle({ csv, crds: [aDefinition(schema)], others: [object] });
  const [made] = markSamples([object], bundle);
  return made?.metadata.annotations?.['core.rukpak.io/left-out'];
}

test.each<[string | undefined, JsonValue, string | undefined]>([
  [
    JSON.stringify([aRole({})]),
    { name: 'a' },
    'it is a sample, which the ClusterServiceVersion has in alm-examples',
  ],
  [JSON.stringify([aRole({}, 'other')]), { name: 'a' }, undefined],
  [undefined, { name: 'a', rules: [{ verb: 'x' }] }, undefined],
  [undefined, { name: 'a', effect: 'Allow', notes: null, unknown: 1 }, undefined],
  [undefined, {}, "it does not fit the bundle's CRD of Role: spec.name: Required value"],
  [
    undefined,
    { name: 'a', effect: 'Maybe' },
    'it does not fit the bundle\'s CRD of Role: spec.effect: Unsupported value: "string": supported values: "Allow", "Deny"',
  ],
  [
    undefined,
    { name: 'a', size: 'large' },
    'it does not fit the bundle\'s CRD of Role: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"',
  ],
  [
    undefined,
    { name: 'A' },
    "it does not fit the bundle's CRD of Role: spec.name: Invalid value: \"string\": spec.name in body should match '^[a-z]+$'",
  ],
  [
    '{ no JSON',
    { name: 'a', rules: [{ verb: 'x' }, {}] },
    "it does not fit the bundle's CRD of Role: spec.rules[1].verb: Required value",
  ],
])('examples %j and spec %j: %s', (examples, spec, because) => {
  expect(reasonFor(aRole(spec), examples)).toBe(because);
});

test('what cannot be checked is for the API server to judge', () => {
  const unreadable = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { name: { pattern: '(' } } } },
  };
  expect(reasonFor(aRole({ name: 'a' }), undefined, unreadable)).toBeUndefined();
});

// With time that grows with the square of the length, the check is given up.
test('what no duration is, is read as fast as it is long', () => {
  const spec = { type: 'object', properties: { every: { type: 'string', format: 'duration' } } };
  const schema = { type: 'object', properties: { spec } };
  const reasonOf = (every: string) => reasonFor(aRole({ every }), undefined, schema);
  expect(reasonOf('1'.repeat(1_000_000))).toContain('spec.every: ');
  expect(reasonOf(`${'1'.repeat(1_000_000)} days`)).toBeUndefined();
});

test('objects of other groups and versions are as they are', () => {
  expect(reasonFor(aRole({}, 'a', 'rbac.authorization.k8s.io/v1'), undefined)).toBeUndefined();
  expect(reasonFor(aRole({}, 'a', `${group}/v2`), undefined)).toBeUndefined();
});
