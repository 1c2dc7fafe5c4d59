import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Resource } from '../../../core/platform/kube/index.ts';
import { deploySample, readSample } from './sample-objects.ts';

const deployment = `apiVersion: core.rukpak.io/v1alpha1
kind: BundleDeployment
metadata: { name: shop }
spec:
  provisionerClassName: acme
  config: { replicas: 2 }
  template:
    spec: { provisionerClassName: acme, source: { type: image, image: { ref: there:v1 } } }
`;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rukpak-sample-'));
  mkdirSync(join(folder, 'content', 'pages'), { recursive: true });
  writeFileSync(join(folder, 'content', 'index.html'), 'hello');
  writeFileSync(join(folder, 'content', 'pages', 'a.html'), 'a');
  writeFileSync(join(folder, 'bundledeployment.yaml'), deployment);
});

afterEach(() => rmSync(folder, { recursive: true }));

test('each folder of the content is a ConfigMap that nobody can change', () => {
  const sample = readSample(folder, 'system');
  const [name = ''] = sample.configMaps.map(({ metadata }) => metadata.name);
  expect(name).toMatch(/^shop-[0-9a-f]{10}-0$/);
  const second = name.replace(/0$/, '1');
  const common = { apiVersion: 'v1', kind: 'ConfigMap', immutable: true };
  expect(sample.configMaps).toEqual([
    {
      ...common,
      metadata: { name, namespace: 'system' },
      binaryData: { 'index.html': 'aGVsbG8=' },
    },
    {
      ...common,
      metadata: { name: second, namespace: 'system' },
      binaryData: { 'a.html': 'YQ==' },
    },
  ]);
  expect(sample.deployment).toMatchObject({
    metadata: { name: 'shop' },
    spec: {
      config: { replicas: 2 },
      template: {
        spec: {
          provisionerClassName: 'acme',
          source: {
            type: 'configMaps',
            configMaps: [{ configMap: { name } }, { configMap: { name: second }, path: 'pages' }],
          },
        },
      },
    },
  });
});

test('other content has other names', () => {
  const before = readSample(folder, 'system').configMaps[0]?.metadata.name;
  expect(readSample(folder, 'system').configMaps[0]?.metadata.name).toBe(before);
  writeFileSync(join(folder, 'content', 'index.html'), 'bye');
  expect(readSample(folder, 'system').configMaps[0]?.metadata.name).not.toBe(before);
});

test.each([
  ['no BundleDeployment', 'kind: ConfigMap\napiVersion: v1\nmetadata: { name: a }\n'],
  ['two of them', `${deployment}---\n${deployment}`],
  ['one without a name', deployment.replace('name: shop', '')],
])('%s is refused', (_what, text) => {
  writeFileSync(join(folder, 'bundledeployment.yaml'), text);
  expect(() => readSample(folder, 'system')).toThrow(
    'bundledeployment.yaml must hold one BundleDeployment of core.rukpak.io/v1alpha1',
  );
});

test('a folder without a sample is refused', () => {
  expect(() => readSample(join(folder, 'none'), 'system')).toThrow(
    /^cannot read the sample: .*none/,
  );
});

const mine = [{ manager: 'rukpakctl', operation: 'Apply' }];

test.each<[string, string, readonly object[], boolean]>([
  ['of another source', 'image', mine, false],
  ['that another client made', 'configMaps', [{ manager: 'argocd', operation: 'Apply' }], false],
  ['of an earlier sample', 'configMaps', mine, true],
])('a deployment %s', async (...[, type, managedFields, isReplaced]) => {
  const { deployment: sample, configMaps } = readSample(folder, 'system');
  const live: KubernetesObject = {
    ...sample,
    metadata: { ...sample.metadata, managedFields } as KubernetesObject['metadata'],
    spec: { template: { spec: { source: { type } } } },
  };
  const applied: string[] = [];
  const client = {
    get: async () => live,
    apply: async (_resource: Resource, object: KubernetesObject) => {
      applied.push(object.kind);
      return object;
    },
  };
  const options = { timeout: 1, signal: new AbortController().signal };
  await expect(deploySample(client, { deployment: sample, configMaps }, options)).rejects.toThrow(
    isReplaced
      ? 'is not installed and healthy after'
      : `nothing is applied: BundleDeployment "shop" exists, and no sample made it (its source is of type ${type})`,
  );
  expect(applied).toEqual(isReplaced ? ['ConfigMap', 'ConfigMap', 'BundleDeployment'] : []);
});
