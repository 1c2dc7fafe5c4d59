import { describe, expect, test } from 'vitest';
import { MirrorList } from './mirror-list.ts';

const digest = `sha256:${'ab'.repeat(32)}`;

function listed(blocked: readonly string[], ...images: readonly string[]): MirrorList {
  const list = new MirrorList(blocked);
  for (const image of images) list.add(image);
  return list;
}

test('an image is listed once, with its place on the mirror', () => {
  const list = listed([], `quay.example/a/b@${digest}`, 'nginx', `quay.example/a/b@${digest}`);
  expect(list.images.map(({ source, path, tag }) => [source, path, tag])).toEqual([
    [`quay.example/a/b@${digest}`, 'a/b', `mirrored-${'ab'.repeat(16)}`],
    ['docker.io/library/nginx:latest', 'library/nginx', 'latest'],
  ]);
});

describe('blocked images are left out', () => {
  test.each([
    ['an image', 'quay.example/a/b:v1', ['quay.example/a/b:v2']],
    ['all of a repository', 'quay.example/a/b', []],
    ['another spelling', 'Quay.example:443/a/b:v1', ['quay.example/a/b:v2']],
    ['another repository', 'quay.example/a', ['quay.example/a/b:v1', 'quay.example/a/b:v2']],
  ])('%s', (_what, blocked, left) => {
    const list = listed([blocked], 'quay.example/a/b:v1', 'quay.example/a/b:v2');
    expect(list.images.map(({ source }) => source)).toEqual(left);
  });
});

test('a name that is none is reported, and the rest is listed', () => {
  const list = listed([], 'quay.example/A', 'quay.example/a@', 'quay.example/a:v1');
  expect(list.images).toHaveLength(1);
  expect(list.refused.map(({ image }) => image)).toEqual(['quay.example/A', 'quay.example/a@']);
});

test('an image that an operator names with a scheme is listed as others', () => {
  const list = listed([], 'oci://quay.example/a:v1', 'docker://quay.example/a:v1');
  expect(list.images.map(({ source }) => source)).toEqual(['quay.example/a:v1']);
  expect(list.refused).toEqual([]);
});

test('a bundle does not need what is no image', () => {
  const list = new MirrorList([]);
  const bundle = list.add('quay.example/bundle:v1', 'a.v1');
  for (const image of ['quay.example/a@', 'oci://quay.example/a:v1']) {
    list.addOfBundle(image, 'a.v1', bundle);
  }
  expect(bundle && list.needsOf(bundle)).toEqual(['quay.example/a:v1']);
});

test('two registries with one path and tag cannot both be mirrored', () => {
  const list = listed([], 'quay.example/a/b:v1', 'ghcr.example/a/b:v1');
  expect(list.refused[0]?.problem).toBe(
    'on the mirror it would be "a/b:v1", as "quay.example/a/b:v1" is already: name one of them by its digest',
  );
});

test('tags beside digests are no conflict', () => {
  const other = `sha256:${'cd'.repeat(32)}`;
  const list = listed([], `quay.example/a:v1@${digest}`, `quay.example/a:v1@${other}`);
  expect(list.images).toHaveLength(2);
  expect(list.refused).toEqual([]);
});
