import { expect, test } from 'vitest';
import type { BundleSource } from '../../../api/v1alpha1/bundle.ts';
import { sourceTypes } from '../../../test/helpers/source-types.ts';
import { sourceHost } from './source-secrets.ts';

function git(repository: string): BundleSource {
  return { type: 'git', git: { repository, ref: { branch: 'main' } } };
}

test.each<[string, BundleSource]>([
  ['docker.io', { type: 'image', image: { ref: 'busybox' } }],
  ['example.com', { type: 'image', image: { ref: 'example.com:5000/a/b:v1' } }],
  ['image', { type: 'image', image: { ref: '::' } }],
  ['image', { type: 'image', image: { ref: '999.999.999.999/a' } }],
  ['127.0.0.1', { type: 'http', http: { url: 'http://0x7f.1:8080/a.tgz' } }],
  ['[::1]', { type: 'http', http: { url: 'http://[0::1]:8080/a.tgz' } }],
  ['example.com', git('https://user:secret@Example.com/r')],
  ['example.com', git('https://example.com:8443/r')],
  ['example.com', git('ssh://git@example.com:2222/r')],
  ['example.com', git('git@Example.com:owner/r.git')],
  ['git', git('')],
  ['git', git('/a:b')],
  ['git', git('https://')],
  ['example.com', { type: 'http', http: { url: 'https://example.com/a.tgz' } }],
  ['configMaps', { type: 'configMaps', configMaps: [] }],
  ['upload', { type: 'upload', upload: {} }],
])('is %s', (host, source) => {
  expect(sourceHost(source, sourceTypes)).toBe(host);
});
