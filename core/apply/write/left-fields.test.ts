import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { fieldTree, withoutFields } from '../fields/field-tree.ts';
import { withLeftFields } from './left-fields.ts';

function anObject(content: object, metadata: object = {}): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name: 'x', namespace: 'n', ...metadata },
    ...content,
  };
}

/** A live object whose listed fields core manages. */
function live(content: object, fieldsV1: object, metadata: object = {}): KubernetesObject {
  const managedFields = [{ manager: 'rukpak-core', operation: 'Apply', fieldsV1 }];
  return anObject(content, { ...metadata, managedFields });
}

function sent(desired: KubernetesObject, found: KubernetesObject, ...pointers: readonly string[]) {
  return withLeftFields(desired, found, fieldTree(pointers, desired));
}

describe('a field that is left to others', () => {
  const desired = anObject({ spec: { replicas: 2, paused: false } });

  test('is not sent once it is theirs', () => {
    const found = live({ spec: { replicas: 5, paused: false } }, { 'f:spec': { 'f:paused': {} } });
    expect(sent(desired, found, '/spec/replicas')['spec']).toEqual({ paused: false });
  });

  test('is sent as it is while it is still ours: to leave it out would reset it', () => {
    const fields = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } };
    const found = live({ spec: { replicas: 3, paused: false } }, fields);
    expect(sent(desired, found, '/spec/replicas')['spec']).toEqual({ replicas: 3, paused: false });
  });

  test('is not taken out when the bundle no longer has it', () => {
    const fields = { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } };
    const found = live({ spec: { replicas: 3, paused: false } }, fields);
    const without = anObject({ spec: { paused: true } });
    expect(sent(without, found, '/spec/replicas')['spec']).toEqual({ replicas: 3, paused: true });
    expect(sent(anObject({}), found, '/spec/replicas')['spec']).toEqual({ replicas: 3 });
  });

  test('is created with what it is in', () => {
    expect(sent(desired, live({}, {}), '/spec/replicas')['spec']).toEqual({
      replicas: 2,
      paused: false,
    });
  });

  test('goes with all that is below it, as far as that is ours', () => {
    const annotations = { own: '1', theirs: '2' };
    const fields = { 'f:metadata': { 'f:annotations': { '.': {}, 'f:own': {} } } };
    const found = live({}, fields, { annotations });
    const asked = anObject({}, { annotations: { own: '0', fresh: '3' } });
    expect(sent(asked, found, '/metadata/annotations').metadata.annotations).toEqual({ own: '1' });
  });

  test('may be an annotation with a slash in its name, also of an object without annotations', () => {
    const asked = anObject({}, { annotations: { 'a.io/b': '1', c: '2' } });
    const found = live({}, {});
    expect(sent(asked, found, '/metadata/annotations/a.io~1b').metadata.annotations).toEqual({
      c: '2',
    });
  });
});

describe('items of lists', () => {
  const containers = [
    { name: 'app', image: 'a:1' },
    { name: 'side', image: 's:1' },
  ];
  const desired = anObject({ spec: { containers } });

  test('are found by their keys, wherever others have put them', () => {
    const found = live(
      {
        spec: {
          containers: [
            { name: 'injected' },
            { name: 'app', image: 'a:9' },
            { name: 'side', image: 's:9' },
          ],
        },
      },
      {
        'f:spec': {
          'f:containers': {
            'k:{"name":"app"}': { '.': {}, 'f:name': {}, 'f:image': {} },
            'k:{"name":"side"}': { '.': {}, 'f:name': {} },
          },
        },
      },
    );
    expect(sent(desired, found, '/spec/containers/*/image')['spec']).toEqual({
      containers: [{ name: 'app', image: 'a:9' }, { name: 'side' }],
    });
  });

  test('that are new are sent whole', () => {
    const found = live(
      { spec: { containers: [{ name: 'app', image: 'a:9' }] } },
      { 'f:spec': { 'f:containers': { 'k:{"name":"app"}': { '.': {}, 'f:name': {} } } } },
    );
    expect(sent(desired, found, '/spec/containers/*/image')['spec']).toEqual({
      containers: [{ name: 'app' }, { name: 'side', image: 's:1' }],
    });
  });

  test.each([
    ['of a list that is ours', { 'f:spec': { 'f:args': {} } }],
    ['of a list that somebody else changed', { 'f:spec': {} }],
  ])('%s as a whole have the live value', (_, fields) => {
    const found = live({ spec: { args: ['a', 'theirs', 'c'] } }, fields);
    const asked = anObject({ spec: { args: ['a', 'b', 'new'] } });
    expect(sent(asked, found, '/spec/args/1')['spec']).toEqual({ args: ['a', 'theirs', 'new'] });
  });
});

test('identity and the marks of the owner cannot be left to others', () => {
  const labels = {
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': 'demo',
    'applyset.kubernetes.io/part-of': 'applyset-x-v1',
    app: 'web',
  };
  const annotations = { 'core.rukpak.io/tracking-id': 'u:/ConfigMap:n/a' };
  const desired = anObject({ data: { a: '1' } }, { labels, annotations });
  const found = live({ data: { a: '2' } }, {}, { labels: { app: 'other' } });
  const { app: _, ...marks } = labels;
  const pointers = ['/metadata', '/kind', '/apiVersion', '/data'];
  expect(sent(desired, found, ...pointers)).toEqual(anObject({}, { labels: marks, annotations }));
});

test.each(['/metadata', '/metadata/ownerReferences'])(
  'an ownerReference of ours goes where %s is ignored: the garbage collector is to find none',
  (pointer) => {
    const ownerReferences = [
      { apiVersion: 'v1', kind: 'BundleDeployment', name: 'demo', uid: 'u' },
    ];
    const fields = { 'f:metadata': { 'f:ownerReferences': { 'k:{"uid":"u"}': {} } } };
    const found = live({}, fields, { ownerReferences });
    expect(sent(anObject({}), found, pointer).metadata.ownerReferences).toBeUndefined();
  },
);

test('whatever is not ignored is sent as it is asked for', () => {
  const spec = fc.dictionary(
    fc.constantFrom('a', 'b', 'c'),
    fc.oneof(fc.integer(), fc.dictionary(fc.constantFrom('d', 'e'), fc.integer())),
  );
  const paths = fc.subarray(['/spec/a', '/spec/b/d', '/spec/c/e', '/spec/c', '/spec/*/d']);
  const owned = fc.subarray(['a', 'b', 'c']);
  fc.assert(
    fc.property(spec, spec, fc.tuple(paths, owned), (asked, there, [pointers, ours]) => {
      const desired = anObject({ spec: asked });
      const fields = {
        'f:spec': Object.fromEntries(ours.map((key) => [`f:${key}`, { 'f:d': {}, 'f:e': {} }])),
      };
      const result = sent(desired, live({ spec: there }, fields), ...pointers);
      const tree = fieldTree(pointers, desired);
      expect(askedIn(withoutFields(result, tree))).toEqual(askedIn(withoutFields(desired, tree)));
    }),
  );
});

/** Maps that exist only for ignored fields must cause no request. */
function askedIn(value: unknown): object {
  const { spec } = value as { spec: object };
  return Object.fromEntries(
    Object.entries(spec).filter(([, field]) => JSON.stringify(field) !== '{}'),
  );
}
