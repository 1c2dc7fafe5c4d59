import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { contentProblem } from './content-check.ts';

const owner = {
  apiVersion: 'core.rukpak.io/v1alpha1',
  kind: 'BundleDeployment',
  metadata: { name: 'demo' },
};

function problem(metadata: unknown): string | undefined {
  return contentProblem(
    { apiVersion: 'v1', kind: 'ConfigMap', metadata } as KubernetesObject,
    owner,
  );
}

test('a deployment may contain others, but not itself', () => {
  const other = { ...owner, metadata: { name: 'other' } };
  expect(contentProblem(other, owner)).toBeUndefined();
  expect(contentProblem({ ...owner, apiVersion: 'acme.io/v1' }, owner)).toBeUndefined();
  expect(contentProblem({ ...owner, apiVersion: 'core.rukpak.io/v1beta1' }, owner)).toBe(
    'BundleDeployment "demo": a bundle may not contain the BundleDeployment that installs it; remove it from the bundle',
  );
});

test('a name of megabytes is not repeated', () => {
  expect(problem({ name: 'x'.repeat(5_000_000) })).toMatch(
    /^ConfigMap "x{100}": metadata.name has 5000000 characters, more than the 1024 that there may be$/,
  );
});

test('ordinary names pass, also those of RBAC', () => {
  expect(problem({ name: 'system:node', namespace: 'a', labels: null })).toBeUndefined();
});

test.each([
  [undefined, 'metadata.name must be set'],
  [null, 'metadata.name must be set'],
  ['text', 'metadata.name must be set'],
  [{ generateName: 'a-' }, 'metadata.name must be set'],
  [{ name: 7 }, 'metadata.name must be set'],
  [{ name: '..' }, 'metadata.name may not be ".."'],
  [{ name: 'a/../b' }, 'metadata.name may not contain "/" or "%"'],
  [{ name: 'a', namespace: '..' }, 'metadata.namespace may not be ".."'],
  [{ name: 'a', namespace: ['x'] }, 'metadata.namespace must be a string'],
  [{ name: 'a', labels: ['x'] }, 'metadata.labels must be a map'],
  [{ name: 'a', annotations: 'x' }, 'metadata.annotations must be a map'],
  [
    { name: 'a', annotations: { 'core.rukpak.io/stage': 'first' } },
    'ConfigMap "a": annotation core.rukpak.io/stage is "first": it must be a whole number',
  ],
])('%j is refused', (metadata, text) => {
  expect(problem(metadata)).toContain(text);
  expect(problem(metadata)).toMatch(/^ConfigMap "/);
});
