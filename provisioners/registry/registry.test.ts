import { describe, expect, it } from 'vitest';
import {
  type Bundle,
  type BundleDeployment,
  type BundleFiles,
  type DeploymentContext,
  defaultLimits,
  parseManifests,
  readPlainBundle,
  TerminalError,
} from '../../core/sdk.ts';
import { aCsvManifest, aRegistryTree, aTree } from '../../test/helpers/registry-bundle.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { convertRegistryBundle } from './convert.ts';
import registry from './index.ts';

const context: DeploymentContext = {
  signal: new AbortController().signal,
  logger: silentLogger,
  limits: defaultLimits,
  inputs: [],
};

function aBundle(annotations = {}): Bundle {
  return {
    metadata: { annotations },
    spec: { provisionerClassName: registry.className, source: { type: 'configMaps' } },
  } as unknown as Bundle;
}

const configured = aBundle({ 'core.rukpak.io/configured': 'true' });
const manifest = 'manifests/manifest.yaml';

async function stored(files = aRegistryTree(), limits = defaultLimits, bundle = aBundle()) {
  const content = await registry.bundle?.(files, bundle, { ...context, limits });
  if (content === undefined) throw new Error('the class serves no Bundles');
  return content;
}

async function deployed(content: BundleFiles, config?: object, facts: object = {}) {
  const deployment = { spec: { config } } as unknown as BundleDeployment;
  const files = await registry.configure?.(content, deployment, { ...context, ...facts });
  if (files === undefined) throw new Error('the class configures nothing');
  expect([...files.files.keys()]).toEqual([manifest]);
  return readPlainBundle(files).flatMap((file) => file.objects);
}

function textOf(files: BundleFiles): string {
  return new TextDecoder().decode(files.files.get(manifest));
}

describe('the class core-rukpak-io-registry', () => {
  it('serves Bundles only', () => {
    expect(registry.className).toBe('core-rukpak-io-registry');
    expect(registry.deployment).toBeUndefined();
  });

  it('stores one file to apply, every document preceded by a separator', async () => {
    expect(textOf(await stored())).toBe(
      '---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: pkg-system\n',
    );
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
    const objects = readPlainBundle(await stored(files)).flatMap((file) => file.objects);
    expect(objects).toEqual(convertRegistryBundle(files));
    expect(objects[1]).toEqual({ ...crd, spec: { ...crd.spec, big: 9007199254740993n } });
  });

  it('reports the problems of a bundle with the prefix of its source', async () => {
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
    const content = (await stored()).files.get(manifest);
    expect(parseManifests('x', content!)).toHaveLength(1);
  });
});

describe('a deployment of its content', () => {
  it('gets the stored content, without a spec.config', async () => {
    const content = await stored();
    expect(await deployed(content)).toEqual(
      readPlainBundle(content).flatMap((file) => file.objects),
    );
  });

  it('has the namespace of its spec.config, which is not made', async () => {
    const account = { 'manifests/a.yaml': 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n' };
    const content = await stored(aRegistryTree(aCsvManifest(), account));
    expect(await deployed(content, { installNamespace: 'mine' })).toEqual([
      { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a', namespace: 'mine' } },
    ]);
  });

  it('reports problems of its spec.config or its namespaces', async () => {
    const content = await stored();
    await expect(deployed(content, { watchNamespace: 7 })).rejects.toThrow(
      'parse deployment config: spec.config.watchNamespace is a number',
    );
    await expect(deployed(content, { watchNamespace: 'a' })).rejects.toThrow(
      'convert registry+v1 bundle to plain+v0 bundle: supported install modes [AllNamespaces] do not support target namespaces [a]: write neither',
    );
  });

  it('of content of an earlier version is as stored, and takes no spec.config', async () => {
    const { files } = await stored();
    const earlier = aTree({ [manifest]: files.get(manifest)! });
    expect((await deployed(earlier)).map((object) => object.kind)).toEqual(['Namespace']);
    await expect(deployed(earlier, {})).rejects.toThrow('delete the Bundle');
  });
});

describe('a Bundle whose deployment has a spec.config', () => {
  const modes = (...types: string[]) =>
    aRegistryTree(aCsvManifest({ installModes: types.map((type) => ({ type, supported: true })) }));

  it('need not be for all namespaces: then only its files are stored', async () => {
    const own = await stored(modes('OwnNamespace'), defaultLimits, configured);
    expect([...own.files.keys()]).toEqual([
      'bundle/manifests/csv.yaml',
      'bundle/metadata/annotations.yaml',
    ]);
    expect((await deployed(own, { watchNamespace: 'pkg-system' }))[0]?.kind).toBe('Namespace');
    await expect(deployed(own)).rejects.toThrow('AllNamespace install mode must be enabled');
  });

  it('is converted as without, where it is for all namespaces', async () => {
    const files = modes('AllNamespaces', 'OwnNamespace');
    expect(await stored(files, defaultLimits, configured)).toEqual(await stored(files));
  });

  it.each([
    ['SingleNamespace', undefined],
    ['MultiNamespace', undefined],
    ['Other', 'the operator supports none, correct spec.installModes of its CSV'],
  ])('of install mode %s alone is judged at once', async (mode, complaint) => {
    const unpacked = stored(modes(mode), defaultLimits, configured);
    if (complaint === undefined) await expect(unpacked).resolves.toBeDefined();
    else await expect(unpacked).rejects.toThrow(complaint);
  });
});
