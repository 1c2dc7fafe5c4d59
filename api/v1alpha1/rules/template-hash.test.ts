import { describe, expect, test } from 'vitest';
import type { BundleSource, BundleTemplate } from '../index.ts';
import { bundleName, templateHash } from './template-hash.ts';

function aTemplate(
  className: 'plain' | 'registry' | 'helm',
  source: BundleSource,
  metadata?: BundleTemplate['metadata'],
): BundleTemplate {
  const spec = { provisionerClassName: `core-rukpak-io-${className}`, source };
  return metadata === undefined ? { spec } : { metadata, spec };
}

const repository = 'https://github.com/exdx/combo-bundle';
const ref = 'localhost/testdata/bundles/plain-v0:valid';

describe('golden vectors of the documentation', () => {
  test.each<[string, BundleTemplate, string]>([
    [
      'git branch',
      aTemplate('plain', { type: 'git', git: { repository, ref: { branch: 'main' } } }),
      'cgh91wuga5cvf9pefhqyq9hkqkbjmdv4j8pk4e174lo',
    ],
    [
      'git commit with everything',
      aTemplate('plain', {
        type: 'git',
        git: {
          repository,
          directory: './dev/deploy',
          ref: { commit: '9e3ab7f1a36302ef512294d5c9f2e9b9566b811e' },
          auth: { secret: { name: 's' }, insecureSkipVerify: true },
        },
      }),
      '2w6reoyb5eemm3rxrqdy8plu1el1aia9182weflndesp',
    ],
    [
      'http with characters that Go escapes',
      aTemplate('helm', { type: 'http', http: { url: 'https://x/y.tgz?a=1&b=<2>' } }),
      '30apg7o2pdfldxod5thch1c2y9mol9bpysvwrbjbe3iu',
    ],
    [
      'upload with labels',
      aTemplate(
        'plain',
        { type: 'upload', upload: {} },
        { labels: { bundleDigest: 'abc', app: 'test' } },
      ),
      '2t2ghbb6v5bg3yqg18nsg8ok6hiellf8vjh8e5vrt10e',
    ],
    [
      'configMaps',
      aTemplate('plain', {
        type: 'configMaps',
        configMaps: [
          { configMap: { name: 'cm1' }, path: 'manifests' },
          { configMap: { name: 'cm2' } },
        ],
      }),
      '1f8oxjsjfjwbzzgt3qa92dglxsj3bleryp1kwq76lix2',
    ],
    [
      'image with a pull secret',
      aTemplate('plain', { type: 'image', image: { ref, pullSecret: 'ps' } }),
      '2n9aj9ghwrbszue05354pt0dplemubtadz7593jht6cm',
    ],
  ])('%s', (_what, template, hash) => {
    expect(templateHash(template)).toBe(hash);
  });

  test('a name as the product documentation shows it', () => {
    const digest = 'sha256:e09d37bb1e754db42324fd18c1cb3e7ce77e7b7fcbf4932d0535391579938280';
    const image = {
      ref: `registry.redhat.io/openshift-pipelines/pipelines-operator-bundle@${digest}`,
    };
    const hash = templateHash(aTemplate('registry', { type: 'image', image }));
    expect(bundleName('pipelines-operator', hash)).toBe(
      'pipelines-operator-29x720cjzx8yiowf13a3j75fil2zs3mfw',
    );
  });

  test('a long deployment name leaves six characters of the hash', () => {
    const hash = templateHash(aTemplate('plain', { type: 'image', image: { ref } }));
    expect(bundleName('a'.repeat(45), hash)).toBe(`${'a'.repeat(45)}-1opmbm`);
    expect(bundleName('a'.repeat(60), hash)).toBe(`${'a'.repeat(45)}-1opmbm`);
  });
});

test('what Go leaves out does not count', () => {
  const bare = aTemplate('plain', { type: 'image', image: { ref } });
  const empty = aTemplate(
    'plain',
    { type: 'image', image: { ref, pullSecret: '' }, configMaps: [] },
    { name: '', labels: {}, annotations: {}, finalizers: [] },
  );
  expect(templateHash(empty)).toBe(templateHash(bare));
});

test('name, namespace and finalizers count although they are not copied', () => {
  const source = { type: 'image', image: { ref } };
  const hashes = [{}, { name: 'n' }, { namespace: 'ns' }, { finalizers: ['f'] }].map((metadata) =>
    templateHash(aTemplate('plain', source, metadata)),
  );
  expect(new Set(hashes).size).toBe(4);
});

test('a checksum counts where there is one', () => {
  const http = { url: 'https://x/y.tgz' };
  const bare = templateHash(aTemplate('plain', { type: 'http', http }));
  const empty = aTemplate('plain', { type: 'http', http: { ...http, checksum: '' } });
  expect(templateHash(empty)).toBe(bare);
  const checksum = `sha256:${'1'.repeat(64)}`;
  const pinned = aTemplate('plain', { type: 'http', http: { ...http, checksum } });
  expect(templateHash(pinned)).not.toBe(bare);
});

test('parameters of a third party count, and none can be too much for it', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`) as Record<
    string,
    unknown
  >;
  const hashes = [{}, { bucket: 'a' }, { bucket: 'b' }, deep].map((parameters) =>
    templateHash(aTemplate('plain', { type: 'acme-s3', parameters })),
  );
  expect(new Set(hashes).size).toBe(4);
});
