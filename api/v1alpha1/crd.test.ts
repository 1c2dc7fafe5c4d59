import { expect, test } from 'vitest';
import { catalogCRD } from '../catalogd/v1alpha1/crd.ts';
import { clusterCatalogCRD, clusterExtensionCRD } from '../olm/v1/crd.ts';
import { operatorCRD } from '../operators/v1alpha1/crd.ts';
import { bundleCRD, bundleDeploymentCRD } from './crd.ts';

function at(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((node, key) => (node as Record<string, unknown>)[key], value);
}

function rootSchema(crd: unknown): unknown {
  return at(crd, 'spec.versions.0.schema.openAPIV3Schema');
}

const spec = 'properties.spec.properties';

test('exactly one source and one git revision are demanded of a Bundle', () => {
  const schema = rootSchema(bundleCRD());
  const keys = (path: string) =>
    (at(schema, path) as { required: string[] }[]).flatMap(({ required }) => required);
  expect(keys(`${spec}.source.oneOf`)).toEqual([
    'git',
    'image',
    'configMaps',
    'upload',
    'http',
    'parameters',
  ]);
  expect(keys(`${spec}.source.properties.git.properties.ref.oneOf`)).toEqual([
    'branch',
    'commit',
    'tag',
  ]);
});

test('neither a template nor a resolved source has unions', () => {
  expect(JSON.stringify(bundleDeploymentCRD())).not.toContain('oneOf');
  expect(JSON.stringify(at(rootSchema(bundleCRD()), 'properties.status'))).not.toContain('oneOf');
});

test('type and phase are free text', () => {
  const schema = rootSchema(bundleCRD());
  expect(at(schema, `${spec}.source.properties.type`)).not.toHaveProperty('enum');
  expect(at(schema, 'properties.status.properties.phase')).not.toHaveProperty('enum');
});

test('config is preserved and names are bounded', () => {
  const schema = rootSchema(bundleDeploymentCRD());
  expect(at(schema, `${spec}.config`)).toMatchObject({
    'x-kubernetes-preserve-unknown-fields': true,
  });
  expect(at(schema, 'properties.metadata.properties.name.maxLength')).toBe(45);
  expect(at(rootSchema(bundleCRD()), 'properties.metadata.properties.name.maxLength')).toBe(52);
});

const definitions = [
  bundleCRD(),
  bundleDeploymentCRD(),
  catalogCRD(),
  operatorCRD(),
  clusterCatalogCRD(),
  clusterExtensionCRD(),
];

test.each(definitions)('every field of $metadata.name is described', (crd) => {
  // Kubernetes describes these two.
  const known = ['.metadata', '.metadata.name'];
  expect(undescribed(rootSchema(crd), '').filter((path) => !known.includes(path))).toEqual([]);
});

test.each([operatorCRD(), catalogCRD(), clusterExtensionCRD()])(
  '$metadata.name is accepted without a spec',
  (crd) => {
    expect(rootSchema(crd)).not.toHaveProperty('required');
  },
);

test('rules and defaults of the API server reach the schema', () => {
  const spec = at(rootSchema(clusterCatalogCRD()), 'properties.spec');
  expect(at(spec, 'properties.priority')).toMatchObject({ default: 0, format: 'int32' });
  expect(at(spec, 'properties.source.x-kubernetes-validations.0.message')).toBe(
    'image is required when source type is Image, and forbidden otherwise',
  );
});

function undescribed(schema: unknown, path: string): string[] {
  const { properties, items } = schema as { properties?: object; items?: unknown };
  const below = Object.entries(properties ?? {}).flatMap(([name, child]) => {
    const { description } = child as { description?: string };
    const here = description ? [] : [`${path}.${name}`];
    return [...here, ...undescribed(child, `${path}.${name}`)];
  });
  return items === undefined ? below : [...below, ...undescribed(items, `${path}[]`)];
}
