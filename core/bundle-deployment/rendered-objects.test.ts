import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import { RenderedObjects } from './rendered-objects.ts';

const spec = { provisionerClassName: 'c', source: { type: 'image' } };

function aDeployment(name: string, generation = 1): BundleDeployment {
  return {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'BundleDeployment',
    metadata: { name, uid: `uid-${name}`, generation },
    spec: { provisionerClassName: 'c', template: { spec } },
  };
}

function aBundle(uid: string): Bundle {
  return { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'Bundle', metadata: { uid }, spec };
}

const objects: readonly KubernetesObject[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' } },
];

test('remembers what one version of a deployment made of one Bundle', () => {
  const rendered = new RenderedObjects();
  rendered.set({ deployment: aDeployment('a'), bundle: aBundle('1') }, objects, 10);
  expect(rendered.get(aDeployment('a'), aBundle('1'))).toBe(objects);
  expect(rendered.get(aDeployment('a', 2), aBundle('1'))).toBeUndefined();
  expect(rendered.get(aDeployment('a'), aBundle('2'))).toBeUndefined();
  rendered.forget('a');
  expect(rendered.get(aDeployment('a'), aBundle('1'))).toBeUndefined();
});

test('forgets the longest unused beyond its capacity', () => {
  const rendered = new RenderedObjects(25);
  const bundle = aBundle('1');
  for (const name of ['a', 'b'])
    rendered.set({ deployment: aDeployment(name), bundle }, objects, 10);
  rendered.get(aDeployment('a'), bundle);
  rendered.set({ deployment: aDeployment('c'), bundle }, objects, 10);
  expect(rendered.get(aDeployment('b'), bundle)).toBeUndefined();
  expect(rendered.get(aDeployment('a'), bundle)).toBe(objects);
  rendered.set({ deployment: aDeployment('large'), bundle }, objects, 26);
  expect(rendered.get(aDeployment('large'), bundle)).toBeUndefined();
  expect(rendered.get(aDeployment('c'), bundle)).toBe(objects);
});

test('replacing an entry counts its bytes once', () => {
  const rendered = new RenderedObjects(20);
  const bundle = aBundle('1');
  for (let round = 0; round < 5; round += 1) {
    rendered.set({ deployment: aDeployment('a'), bundle }, objects, 10);
  }
  rendered.set({ deployment: aDeployment('b'), bundle }, objects, 10);
  expect(rendered.get(aDeployment('a'), bundle)).toBe(objects);
});
