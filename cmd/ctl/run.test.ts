import { expect, test } from 'vitest';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { classWarning } from './run.ts';

const plain = 'core-rukpak-io-plain';
const manifest = { 'manifests/a.yaml': 'kind: ConfigMap' };
const operator = { ...manifest, 'metadata/annotations.yaml': 'annotations: {}' };

interface Case {
  readonly files: Readonly<Record<string, string>>;
  readonly bundleClass: string;
  readonly hasConfig: boolean;
}

test.each<[string, Case, string | undefined]>([
  ['plain content', { files: manifest, bundleClass: plain, hasConfig: false }, undefined],
  [
    'an operator by its class',
    { files: operator, bundleClass: 'core-rukpak-io-registry', hasConfig: true },
    undefined,
  ],
  [
    'content of a class of others',
    { files: manifest, bundleClass: 'example-com-other', hasConfig: true },
    undefined,
  ],
  [
    'an operator as plain',
    { files: operator, bundleClass: plain, hasConfig: true },
    '--bundle-provisioner-class core-rukpak-io-registry',
  ],
  [
    'a chart as plain',
    { files: { 'Chart.yaml': 'name: a' }, bundleClass: plain, hasConfig: false },
    '--bundle-provisioner-class core-rukpak-io-helm',
  ],
  [
    'plain content with a config',
    { files: manifest, bundleClass: plain, hasConfig: true },
    'applied as written',
  ],
])('%s', (_case, { files, ...upload }, text) => {
  const warning = classWarning({ files: aTree(files), ...upload });
  if (text === undefined) expect(warning).toBeUndefined();
  else expect(warning).toContain(text);
});
