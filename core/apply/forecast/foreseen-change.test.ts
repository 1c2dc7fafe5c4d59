import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { DesiredObject } from '../objects/desired.ts';
import type { ForeseenObject } from './forecaster.ts';
import { fieldDifferences, foreseenChange } from './foreseen-change.ts';

const key = { namespace: 'shop', name: 'a' };
const copy = 'kubectl.kubernetes.io/last-applied-configuration';

function anObject(kind: string, content: object, metadata: object = {}): KubernetesObject {
  const { namespace, name } = key;
  return {
    apiVersion: 'v1',
    kind,
    metadata: { namespace, name, uid: 'u', ...metadata },
    ...content,
  };
}

function aChange(
  before: KubernetesObject | undefined,
  after: KubernetesObject | undefined,
  digest = 'wanted',
): ForeseenObject {
  const { kind } = before ?? after ?? anObject('ConfigMap', {});
  const resource = { group: '', version: 'v1', kind, plural: 'things', namespaced: true };
  const id = `|${kind}|shop|a`;
  const desired = after && ({ id, resource, key, object: after, digest } satisfies DesiredObject);
  return { resource, key, desired, before, after };
}

test('the fields of a change, by their paths', () => {
  const { change } = foreseenChange(
    aChange(
      anObject('ConfigMap', { data: { a: '1', gone: 'x' } }),
      anObject('ConfigMap', { data: { a: '2', made: 'y' } }),
    ),
  ) ?? { change: undefined };
  expect(change).toEqual({
    action: 'Change',
    group: '',
    kind: 'ConfigMap',
    namespace: 'shop',
    name: 'a',
    fields: [
      { path: 'data.a', before: '"1"', after: '"2"' },
      { path: 'data.gone', before: '"x"' },
      { path: 'data.made', after: '"y"' },
    ],
  });
});

test('what is the server’s is no change', () => {
  const server = {
    resourceVersion: '1',
    generation: 1,
    managedFields: [1],
    creationTimestamp: 'x',
  };
  const before = anObject('ConfigMap', { data: {}, status: { a: 1 } }, server);
  const after = anObject('ConfigMap', { data: {}, status: { a: 2 } }, { generation: 2 });
  expect(foreseenChange(aChange(before, after))).toBeUndefined();
});

describe('of a Secret', () => {
  const secret = (data: object, annotations: object = {}): KubernetesObject =>
    anObject('Secret', { data }, { annotations });

  test('no value is shown, and those of one that is as it was count for nothing', () => {
    const { change } = foreseenChange(
      aChange(
        secret({ same: 'topsecret', a: 'topsecret' }),
        secret({ same: 'topsecret', a: 'b', c: 'd' }),
      ),
    ) ?? { change: undefined };
    expect(change?.fields).toEqual([
      { path: 'data.a', before: '***', after: '***' },
      { path: 'data.c', after: '***' },
    ]);
  });

  test.each([
    ['all of its data', anObject('Secret', {}), anObject('Secret', { data: { a: 'topsecret' } })],
    ['stringData', anObject('Secret', {}), anObject('Secret', { stringData: { a: 'topsecret' } })],
    ['kubectl’s copy', secret({}), secret({ b: 'x' }, { [copy]: 'topsecret' })],
    ['a copy that goes', secret({}, { [copy]: 'topsecret' }), secret({ b: 'x' })],
  ])('nor %s', (_, before, after) => {
    const change = foreseenChange(aChange(before, after))?.change;
    expect(change?.action).toBe('Change');
    expect(JSON.stringify(change)).not.toContain('topsecret');
  });
});

test('long values are cut, and of many fields the first are shown', () => {
  const data = Object.fromEntries(
    Array.from({ length: 150 }, (_, n) => [`k${n}`, 'x'.repeat(500)]),
  );
  const before = anObject('ConfigMap', { data: { first: '1' } });
  const { change } = foreseenChange(aChange(before, anObject('ConfigMap', { data }))) ?? {
    change: undefined,
  };
  expect(change).toMatchObject({ moreFields: 51 });
  expect(change?.fields).toHaveLength(100);
  expect(change?.fields?.[1]?.after).toMatch(/^"x{199}…$/);
});

describe('the identity of a change is another one', () => {
  const before = anObject('Secret', { data: { a: '1' } });
  const after = anObject('Secret', { data: { a: '2' } });
  const identity = (change: ForeseenObject): string => JSON.stringify(foreseenChange(change));
  const usual = identity(aChange(before, after));

  test.each<[string, ForeseenObject]>([
    ['for another wish', aChange(before, after, 'other')],
    ['for a namesake', aChange({ ...before, metadata: { ...before.metadata, uid: 'v' } }, after)],
    ['where another value is lost', aChange(anObject('Secret', { data: { a: '3' } }), after)],
    ['for what is made', aChange(undefined, after)],
    ['for what is deleted', aChange(before, undefined)],
  ])('%s', (_, change) => {
    expect(identity(change)).not.toBe(usual);
  });

  test('but not for a status, nor for what nobody asks to change', () => {
    const touched = { ...before, status: { a: 1 }, immutable: true };
    expect(identity(aChange(touched, { ...after, immutable: true }))).toBe(usual);
  });
});

test.each<
  [what: string, states: readonly [before: unknown, after: unknown], found: readonly unknown[]]
>([
  ['nothing', [{ a: { b: [1] } }, { a: { b: [1] } }], []],
  ['a value', [{ spec: { size: 1 } }, { spec: { size: 2 } }], [['spec.size', 1, 2]]],
  ['a new map, as a whole', [{}, { data: { a: '1' } }], [['data', undefined, { a: '1' }]]],
  [
    'a field that goes',
    [{ data: { a: '1', b: '2' } }, { data: { a: '1' } }],
    [['data.b', '2', undefined]],
  ],
  [
    'a key that is no word',
    [{ labels: {} }, { labels: { 'example.com/a': 'x' } }],
    [['labels["example.com/a"]', undefined, 'x']],
  ],
  [
    'items by their names, wherever they are',
    [
      { c: [{ name: 'a', image: '1' }] },
      {
        c: [
          { name: 'b', image: '1' },
          { name: 'a', image: '2' },
        ],
      },
    ],
    [
      ['c[name="a"].image', '1', '2'],
      ['c[name="b"]', undefined, { name: 'b', image: '1' }],
    ],
  ],
  [
    'items by index where they have no names of their own',
    [{ c: [{ name: 'a' }, { name: 'a' }] }, { c: [{ name: 'a' }, { name: 'b' }] }],
    [['c[1].name', 'a', 'b']],
  ],
  ['an item that goes', [{ args: ['a', 'b'] }, { args: ['a'] }], [['args[1]', 'b', undefined]]],
  [
    'another order',
    [{ c: [{ name: 'a' }, { name: 'b' }] }, { c: [{ name: 'b' }, { name: 'a' }] }],
    [['c', [{ name: 'a' }, { name: 'b' }], [{ name: 'b' }, { name: 'a' }]]],
  ],
  ['another type', [{ a: { b: 1 } }, { a: 'b' }], [['a', { b: 1 }, 'b']]],
])('%s', (_, [before, after], found) => {
  const differences = fieldDifferences(before, after);
  expect(differences.map((each) => [each.path, each.before, each.after])).toEqual(found);
});
