import { expect, test } from 'vitest';
import type { BundleSource } from '../../api/v1alpha1/bundle.ts';
import { sourceHost } from './source-host.ts';

function git(repository: string): BundleSource {
  return { type: 'git', git: { repository, ref: { branch: 'main' } } };
}

test.each<[string, BundleSource]>([
  ['docker.io', { type: 'image', image: { ref: 'busybox' } }],
  ['example.com:5000', { type: 'image', image: { ref: 'example.com:5000/a/b:v1' } }],
  ['image', { type: 'image', image: { ref: '::' } }],
  ['example.com', git('https://user:secret@Example.com/r')],
  ['example.com:8443', git('https://example.com:8443/r')],
  ['example.com:2222', git('ssh://git@example.com:2222/r')],
  ['example.com', git('git@Example.com:owner/r.git')],
  ['git', git('')],
  ['git', git('/a:b')],
  ['git', git('https://')],
  ['example.com', { type: 'http', http: { url: 'https://example.com/a.tgz' } }],
  ['configMaps', { type: 'configMaps', configMaps: [] }],
  ['upload', { type: 'upload', upload: {} }],
])('is %s', (host, source) => {
  expect(sourceHost(source)).toBe(host);
});
