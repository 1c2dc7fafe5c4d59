import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../../core/errors.ts';
import { stringifyJson } from '../../../core/sdk.ts';
import {
  aCsvManifest,
  anObject,
  aRegistryTree,
  aTree,
} from '../../../test/helpers/registry-bundle.ts';
import { renderBundle } from './render-content.ts';

const plain = aTree({
  'manifests/a.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: there}\n',
});

describe('renderBundle', () => {
  it('detects the class from the content', () => {
    expect(renderBundle(plain, {}).map((object) => object.kind)).toEqual(['Secret']);
    expect(renderBundle(aRegistryTree(), {}).map((object) => object.kind)).toEqual(['Namespace']);
  });

  it('takes the class that it is given, by full or short name', () => {
    for (const className of ['plain', 'core-rukpak-io-plain']) {
      expect(renderBundle(aRegistryTree(), { className })[0]?.kind).toBe('ClusterServiceVersion');
    }
    for (const className of ['registry', 'core-rukpak-io-registry']) {
      expect(() => renderBundle(plain, { className })).toThrow(
        'convert registry+v1 bundle to plain+v0 bundle: readfile metadata/annotations.yaml: file does not exist',
      );
    }
    expect(() => renderBundle(plain, { className: 'toString' })).toThrow(
      new TerminalError(
        'class "toString" cannot be rendered: use core-rukpak-io-plain or core-rukpak-io-registry or core-rukpak-io-helm',
      ),
    );
  });

  it('moves registry bundles to a namespace that is there, and leaves plain objects as written', () => {
    const options = { installNamespace: 'ns' };
    const files = aRegistryTree(undefined, {
      'manifests/secret.yaml': stringifyJson(anObject('Secret')),
    });
    expect(renderBundle(files, options).map(({ metadata }) => metadata.namespace)).toEqual(['ns']);
    expect(renderBundle(plain, options)[0]?.metadata.namespace).toBe('there');
  });

  it('takes the config of a deployment, and a namespace over that in it', () => {
    const installModes = [{ type: 'SingleNamespace', supported: true }];
    const files = aRegistryTree(aCsvManifest({ installModes }), {
      'manifests/secret.yaml': stringifyJson(anObject('Secret')),
    });
    const config = { installNamespace: 'a', watchNamespace: 'b' };
    const namespaceOf = (options: object) => renderBundle(files, options)[0]?.metadata.namespace;
    expect(namespaceOf({ config })).toBe('a');
    expect(namespaceOf({ config, installNamespace: 'c' })).toBe('c');
    expect(() => renderBundle(files, { config: { watchNamespce: 'b' } })).toThrow(
      'spec.config.watchNamespce is not known: did you mean watchNamespace?',
    );
    expect(() => renderBundle(plain, { config })).toThrow('--config: plain content is applied');
  });

  it('fails in the words of the Unpacked condition', () => {
    expect(() => renderBundle(aTree({ 'manifests/': '' }), {})).toThrow(
      'invalid bundle: found zero objects: plain+v0 bundles are required to contain at least one object',
    );
    expect(() => renderBundle(aRegistryTree(aCsvManifest({ installModes: [] })), {})).toThrow(
      new TerminalError(
        'convert registry+v1 bundle to plain+v0 bundle: AllNamespace install mode must be enabled',
      ),
    );
  });
});
