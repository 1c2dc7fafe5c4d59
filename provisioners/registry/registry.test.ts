import { describe, expect, it } from 'vitest';
import {
  type Bundle,
  type DeploymentContext,
  defaultLimits,
  parseManifests,
  readPlainBundle,
  TerminalError,
} from '../../core/sdk.ts';
import { aCsvManifest, aRegistryTree, aTree } from '../../test/helpers/registry-bundle.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { convertRegistryBundle } from './convert-bundle.ts';
import registry from './index.ts';

const context: DeploymentContext = {
  signal: new AbortController().signal,
  logger: silentLogger,
  limits: defaultLimits,
  inputs: [],
};
const bundle = {
  spec: { provisionerClassName: registry.className, source: { type: 'configMaps' } },
} as unknown as Bundle;

async function stored(files = aRegistryTree(), limits = defaultLimits) {
  return await registry.bundle?.(files, bundle, { ...context, limits });
}

describe('the class core-rukpak-io-registry', () => {
  it('serves Bundles only', () => {
    expect(registry.className).toBe('core-rukpak-io-registry');
    expect(registry.deployment).toBeUndefined();
  });

  it('stores one file, every document preceded by a separator', async () => {
    const files = await stored();
    expect([...(files?.files.keys() ?? [])]).toEqual(['manifests/manifest.yaml']);
    const text = new TextDecoder().decode(files?.files.get('manifests/manifest.yaml'));
    expect(text).toBe('---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: pkg-system\n');
  });

  it('stores what plain reads as the very objects that were converted', async () => {
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'a.b', annotations: { date: '2026-01-02', yes: 'yes', octal: '010' } },
      spec: { big: 0, optionalOldSelf: true, text: '---\n# no document\n', versions: ['1', 'on'] },
    };
    const big = JSON.stringify(crd).replace('"big":0', '"big":9007199254740993');
    const files = aRegistryTree(aCsvManifest(), { 'manifests/crd.json': big });
    const objects = readPlainBundle((await stored(files))!).flatMap((file) => file.objects);
    expect(objects).toEqual(convertRegistryBundle(files));
    expect(objects[1]).toEqual({ ...crd, spec: { ...crd.spec, big: 9007199254740993n } });
  });

  it('prefixes what is wrong with the bundle, in the words of its source', async () => {
    const prefix = 'convert registry+v1 bundle to plain+v0 bundle: ';
    await expect(stored(aTree({ 'x/y': '' }))).rejects.toThrow(
      new TerminalError(`${prefix}open metadata/annotations.yaml: file does not exist`),
    );
    await expect(stored(aRegistryTree(aCsvManifest({ installModes: [] })))).rejects.toThrow(
      new TerminalError(`${prefix}AllNamespace install mode must be enabled`),
    );
    await expect(stored(aRegistryTree(aCsvManifest({ installModes: 1 })))).rejects.toThrow(
      `${prefix}unrecognized type: slice`,
    );
  });

  it('holds the result to the limits', async () => {
    await expect(stored(aRegistryTree(), { ...defaultLimits, maxBytes: 20 })).rejects.toThrow(
      'larger than the limit of 20 bytes',
    );
  });

  it('refuses a result that could not be read back', async () => {
    // Kubernetes takes anything with items for a list, whatever its kind.
    const odd = '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"a"},"items":[1]}';
    await expect(
      stored(aRegistryTree(aCsvManifest(), { 'manifests/odd.json': odd })),
    ).rejects.toThrow('validate bundle: get objects from bundle manifests: ');
  });

  it('makes manifests that are parsed without surprise', async () => {
    const content = (await stored())?.files.get('manifests/manifest.yaml');
    expect(parseManifests('x', content!)).toHaveLength(1);
  });
});
