import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { IgnoredFields } from '../../../api/v1alpha1/deployment-policies.ts';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { desiredObject } from '../objects/desired.ts';
import { childTree, elementTree, fieldTree, ignoredIn, withoutFields } from './field-tree.ts';

const resource = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};
const key = { namespace: 'shop', name: 'web' };

function aDeployment(ignore?: readonly IgnoredFields[]) {
  const deployment = aStoredDeployment();
  const drift = ignore === undefined ? {} : { drift: { ignore: [...ignore] } };
  return { ...deployment, spec: { ...deployment.spec, ...drift } };
}

function desired(replicas: number, ignore?: readonly IgnoredFields[]) {
  const content = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: key,
    spec: { replicas, paused: false },
  };
  const context = { owner: aDeployment(ignore), systemNamespace: 'rukpak-system' };
  return desiredObject(content, resource, context);
}

describe('a rule', () => {
  const paths = ['/spec/replicas'];

  test.each([
    {},
    { group: 'apps' },
    { kind: 'Deployment', name: 'web' },
    { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' },
  ])('%j is for the object', (selector) => {
    const object = desired(1).object;
    const owner = aDeployment([{ ...selector, paths }]);
    expect(ignoredIn(owner, { resource, key }, object)?.key).toBe('["/spec/replicas"]');
  });

  test.each([{ group: '' }, { kind: 'StatefulSet' }, { namespace: 'other' }, { name: 'w' }])(
    '%j is not',
    (selector) => {
      const object = desired(1).object;
      const owner = aDeployment([{ ...selector, paths }]);
      expect(ignoredIn(owner, { resource, key }, object)).toBeUndefined();
    },
  );
});

test('the order of rules, and what they say twice, do not count', () => {
  const [a, b] = [{ paths: ['/spec/replicas'] }, { paths: ['/spec/paused', '/spec/replicas'] }];
  expect(desired(1, [a, b]).digest).toBe(desired(1, [b, a]).digest);
});

test('an ignored value is nothing new; another rule is', () => {
  const rules = [{ paths: ['/spec/replicas'] }];
  expect(desired(2, rules).digest).toBe(desired(1, rules).digest);
  expect(desired(1, [{ paths: ['/spec/paused'] }]).digest).not.toBe(desired(1, rules).digest);
  expect(desired(1, rules).digest).not.toBe(desired(1).digest);
  expect(desired(1, [{ name: 'other', paths: ['/spec'] }]).digest).toBe(desired(1).digest);
});

const deployment = {
  spec: {
    replicas: 2,
    template: {
      spec: {
        containers: [
          { name: 'app', image: 'a:1', args: ['x', 'y'], env: [{ name: 'A', value: '1' }] },
          {
            name: 'side',
            image: 's:1',
            env: [
              { name: 'B', value: '2' },
              { name: 'C', value: '3' },
            ],
          },
        ],
      },
    },
  },
};

test('names fields of maps and of lists, by index or all of them', () => {
  const pointers = ['/spec/replicas', '/spec/template/spec/containers/0/image'];
  expect(withoutFields(deployment, fieldTree(pointers, deployment))).toMatchObject({
    spec: { template: { spec: { containers: [{ name: 'app' }, { name: 'side', image: 's:1' }] } } },
  });
  const all = fieldTree(['/spec/template/spec/containers/*/image'], deployment);
  expect(JSON.stringify(withoutFields(deployment, all))).not.toContain('image');
});

test('pointers that multiply are refused before they fill the memory', () => {
  const length = 30;
  const pointers = Array.from({ length }, (_, index) =>
    ['', ...Array.from({ length }, (__, at) => (at === index ? 'x' : '*'))].join('/'),
  );
  const start = cpuTime();
  expect(() => fieldTree(pointers, {})).toThrow('spec.drift.ignore names more than 10000 fields');
  expect(cpuTime() - start).toBeLessThan(2_000);
});

test('escapes of RFC 6901 are read', () => {
  const object = { metadata: { annotations: { 'a.io/b': '1', 'c~d': '2', e: '3' } } };
  const tree = fieldTree(['/metadata/annotations/a.io~1b', '/metadata/annotations/c~0d'], object);
  expect(withoutFields(object, tree)).toEqual({ metadata: { annotations: { e: '3' } } });
});

test('an item of a list leaves its place to nobody else', () => {
  const object = { args: ['a', 'b', 'c'] };
  expect(withoutFields(object, fieldTree(['/args/1'], object))).toEqual({ args: ['a', null, 'c'] });
});

test('what a wildcard and an index say of one item adds up', () => {
  const pointers = [
    '/spec/template/spec/containers/*/image',
    '/spec/template/spec/containers/0/args',
  ];
  const tree = fieldTree(pointers, deployment);
  expect(withoutFields(deployment, tree)).toMatchObject({
    spec: {
      template: {
        spec: {
          containers: [
            { name: 'app', env: [{ name: 'A', value: '1' }] },
            { name: 'side', env: expect.any(Array) },
          ],
        },
      },
    },
  });
  expect(JSON.stringify(withoutFields(deployment, tree))).not.toMatch(/image|args/);
});

describe('an element of managed fields', () => {
  const pointers = ['/spec/template/spec/containers/*/env/1/value'];
  const containers = ['spec', 'template', 'spec', 'containers'].reduce(
    (tree, key) => childTree(tree, key),
    fieldTree(pointers, deployment) as ReturnType<typeof childTree>,
  );

  test('is found by the keys of its item, in lists of lists as well', () => {
    const side = elementTree(containers, 'k:{"name":"side"}');
    const env = elementTree(side, 'f:env');
    expect(elementTree(elementTree(env, 'k:{"name":"C"}'), 'f:value')?.whole).toBe(true);
    expect(elementTree(env, 'k:{"name":"B"}')).toBeUndefined();
    expect(elementTree(env, '.')).toBeUndefined();
  });

  test('of an item that the object does not have is found by the wildcard alone', () => {
    const other = elementTree(containers, 'k:{"name":"injected"}');
    expect(elementTree(elementTree(other, 'f:env'), 'f:x')).toBeUndefined();
    expect(other?.children.has('env')).toBe(true);
  });

  test('is found by its value', () => {
    const object = { finalizers: ['a', 'b'] };
    const tree = childTree(fieldTree(['/finalizers/1'], object), 'finalizers');
    expect(elementTree(tree, 'v:"b"')?.whole).toBe(true);
    expect(elementTree(tree, 'v:"a"')).toBeUndefined();
  });
});

describe('for any object and any of its fields', () => {
  const key = fc.oneof(fc.constantFrom('a', 'b/c', 'd~e', '*', '0', '__proto__'), fc.string());
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.integer(),
      fc.string(),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(key, tie('any'), { maxKeys: 4 }),
    ),
  })).any;
  const object = fc.dictionary(key, value, { minKeys: 1 });

  function pointersIn(found: unknown, at = ''): string[] {
    if (typeof found !== 'object' || found === null) return [];
    return Object.entries(found).flatMap(([name, below]) => {
      const pointer = `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      return [pointer, ...pointersIn(below, pointer)];
    });
  }

  test('its pointer takes out exactly that field', () => {
    fc.assert(
      fc.property(object, fc.nat(), (given, seed) => {
        const pointers = pointersIn(given).filter((each) => !each.split('/').includes('*'));
        fc.pre(pointers.length > 0);
        const pointer = pointers[seed % pointers.length] ?? '';
        const rest = pointersIn(withoutFields(given, fieldTree([pointer], given)));
        const isInList = /\/\d+$/.test(pointer) && rest.includes(pointer);
        const gone = pointersIn(given).filter((each) => !rest.includes(each));
        const below = pointersIn(given).filter((each) => each.startsWith(`${pointer}/`));
        expect(gone).toEqual(isInList ? below : [pointer, ...below]);
      }),
    );
  });

  test('nothing is taken out where nothing is named', () => {
    fc.assert(
      fc.property(object, (given) => {
        expect(withoutFields(given, fieldTree([], given))).toEqual(given);
      }),
    );
  });
});
