import { expect, test } from 'vitest';
import type { Bundle, BundleDeploymentStatus } from '../../api/v1alpha1/index.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { templateHash } from '../../api/v1alpha1/rules/template-hash.ts';
import { anImage } from '../../test/helpers/objects.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { creatorOfBundle } from './bundles.ts';
import { desiredBundle } from './desired-bundle.ts';

const annotations = { [annotation.changedBy]: 'alice' };

function aDeployment(status: BundleDeploymentStatus = {}) {
  return aStoredDeployment({ metadata: { name: 'demo', uid: '1', annotations }, status });
}

const own = desiredBundle(aDeployment(), templateHash(aDeployment().spec.template));

function creator(bundle: Bundle, status?: BundleDeploymentStatus): string {
  const deployment = aDeployment(status);
  const get = ({ name }: { readonly name: string }) => (name === 'demo' ? deployment : undefined);
  return creatorOfBundle(bundle, { get });
}

test('a Bundle counts for the creator of the deployment that asks for it', () => {
  expect(creator(own)).toBe('user alice');
});

test('and of the one that has installed it', () => {
  const spec = { ...own.spec, source: anImage('example.com/app:former') };
  const former = { ...own, metadata: { ...own.metadata, name: 'demo-former' }, spec };
  expect(creator(former, { activeBundle: 'demo-former' })).toBe('user alice');
  expect(creator(former)).toBe('bundles of no deployment');
});

test('labels and references of somebody else use up nobody else’s share', () => {
  const spec = { ...own.spec, source: anImage('example.com/stalled:v1') };
  expect(creator({ ...own, spec })).toBe('bundles of no deployment');
  expect(creator({ ...own, metadata: { name: 'demo' } })).toBe('bundles of no deployment');
});
