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
        rules: { type: 'array', items: { type: 'object', required: ['verb'] } },
      },
    },
  },
};

/** Why the object is to be left out of a bundle with this CRD and these examples. */
function reasonFor(
  object: ReturnType<typeof aRole>,
  examples: string | undefined,
  schema = strict,
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
  [undefined, {}, "its field spec.name is missing, which the bundle's CRD of Role requires"],
  [
    '{ no JSON',
    { name: 'a', rules: [{ verb: 'x' }, {}] },
    "its field spec.rules[1].verb is missing, which the bundle's CRD of Role requires",
  ],
])('examples %j and spec %j: %s', (examples, spec, because) => {
  expect(reasonFor(aRole(spec), examples)).toBe(because);
});

test('objects of other groups and versions are as they are', () => {
  expect(reasonFor(aRole({}, 'a', 'rbac.authorization.k8s.io/v1'), undefined)).toBeUndefined();
  expect(reasonFor(aRole({}, 'a', `${group}/v2`), undefined)).toBeUndefined();
});
