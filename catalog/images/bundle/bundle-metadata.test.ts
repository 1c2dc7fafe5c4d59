import { expect, test } from 'vitest';
import { bundleAnnotations, bundleDockerfile } from './bundle-metadata.ts';

const metadata = {
  mediaType: 'registry+v1',
  packageName: 'pkg',
  channels: 'stable,beta',
  defaultChannel: '',
};

test('annotations are in the order of their names', () => {
  expect(bundleAnnotations({ ...metadata, defaultChannel: 'stable' })).toBe(`annotations:
  operators.operatorframework.io.bundle.channel.default.v1: stable
  operators.operatorframework.io.bundle.channels.v1: stable,beta
  operators.operatorframework.io.bundle.manifests.v1: manifests/
  operators.operatorframework.io.bundle.mediatype.v1: registry+v1
  operators.operatorframework.io.bundle.metadata.v1: metadata/
  operators.operatorframework.io.bundle.package.v1: pkg
`);
});

test.each([
  ['4.10', '"4.10"'],
  ['4.10,4.11', '4.10,4.11'],
  ['on', '"on"'],
  ['12:30', '"12:30"'],
  ['@x', `'@x'`],
  ["it's: a", `'it''s: a'`],
  ['', '""'],
])('a package %j is written as %s', (packageName, written) => {
  const text = bundleAnnotations({ ...metadata, packageName });
  expect(text).toContain(`.package.v1: ${written}\n`);
});

test('a Dockerfile has a blank line behind the default channel, as ever', () => {
  const options = {
    ...metadata,
    baseImage: 'scratch',
    manifests: 'a/manifests',
    metadata: 'a/metadata',
  };
  const end = 'COPY a/manifests /manifests/\nCOPY a/metadata /metadata/\n';
  expect(bundleDockerfile(options)).toMatch(new RegExp(`channels.v1=stable,beta\n${end}$`));
  expect(bundleDockerfile({ ...options, defaultChannel: 'beta' })).toMatch(
    new RegExp(`channel.default.v1=beta\n\n${end}$`),
  );
});
