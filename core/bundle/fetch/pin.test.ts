import { expect, test } from 'vitest';
import type { BundleSource, GitSource, HTTPSource } from '../../../api/v1alpha1/bundle.ts';
import { sourceTypes } from '../../../test/helpers/source-types.ts';
import { pinIn } from './pin.ts';

const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;
const commit = (digit: string): string => digit.repeat(40);

function image(ref: string): BundleSource {
  return { type: 'image', image: { ref } };
}

function git(ref: GitSource['ref'], more: Partial<GitSource> = {}): BundleSource {
  return { type: 'git', git: { repository: 'https://example.com/r', ref, ...more } };
}

function http(fields: Partial<HTTPSource> = {}): BundleSource {
  return { type: 'http', http: { url: 'https://example.com/a.tgz', ...fields } };
}

const configMaps: BundleSource = { type: 'configMaps', configMaps: [] };
const upload: BundleSource = { type: 'upload', upload: {} };
const sum1 = http({ checksum: digest('1') });

test.each([
  ['a tag', image(`example.com/a@${digest('1')}`), image('example.com/a:v1')],
  ['a short name', image(`docker.io/library/a@${digest('1')}`), image('a')],
  [
    'its own digest',
    image(`example.com/a@${digest('1')}`),
    image(`example.com/a:v1@${digest('1')}`),
  ],
  ['a branch', git({ commit: commit('1') }), git({ branch: 'main' })],
  ['its own commit', git({ commit: commit('1') }), git({ commit: commit('1') })],
  ['an archive', sum1, http({ auth: { secret: { name: 's' } } })],
  ['its own checksum', sum1, sum1],
  ['an empty directory', git({ commit: commit('1') }), git({ tag: 'v1' }, { directory: '' })],
])('is one of %s', (_, pin, spec) => {
  expect(pinIn(sourceTypes, pin, spec)).toMatch(/^(sha256:)?1+$/);
});

test.each([
  ['of another repository', image(`example.com/evil@${digest('1')}`), image('example.com/a:v1')],
  ['of another registry', image(`evil.com/a@${digest('1')}`), image('example.com/a:v1')],
  [
    'with another digest',
    image(`example.com/a@${digest('2')}`),
    image(`example.com/a@${digest('1')}`),
  ],
  ['without a digest', image('example.com/a:v2'), image('example.com/a:v1')],
  ['that is no reference', image('::'), image('example.com/a:v1')],
  ['of another type', git({ commit: commit('1') }), image('example.com/a:v1')],
  ['without its block', { type: 'image' }, image('example.com/a:v1')],
  [
    'of another git repository',
    git({ commit: commit('1') }, { repository: 'https://evil.com/r' }),
    git({ branch: 'main' }),
  ],
  [
    'of another directory',
    git({ commit: commit('1') }, { directory: 'x' }),
    git({ branch: 'main' }),
  ],
  ['with another commit', git({ commit: commit('2') }), git({ commit: commit('1') })],
  ['with another checksum', http({ checksum: digest('2') }), sum1],
  ['without a checksum', http(), http()],
  ['of another URL', http({ url: 'https://evil.com/a.tgz', checksum: digest('1') }), http()],
  ['of ConfigMaps', configMaps, configMaps],
  ['of an upload', upload, upload],
  ['without a commit', git({ branch: 'other' }), git({ branch: 'main' })],
] as const)('is not a pin %s', (_, pin, spec) => {
  expect(pinIn(sourceTypes, pin, spec)).toBeUndefined();
});
