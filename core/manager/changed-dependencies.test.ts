import { expect, test } from 'vitest';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import { changedDependencies } from './changed-dependencies.ts';

function on(...names: readonly string[]): BundleDeployment {
  const deployment = aStoredDeployment();
  return {
    ...deployment,
    spec: { ...deployment.spec, dependsOn: names.map((name) => ({ name })) },
  };
}

test.each([
  { type: 'added', before: undefined, now: on('a', 'b'), changed: ['a', 'b'] },
  { type: 'updated', before: on('a', 'b'), now: on('b', 'c'), changed: ['a', 'c'] },
  { type: 'updated', before: on('a'), now: on('a'), changed: [] },
  { type: 'updated', before: aStoredDeployment(), now: aStoredDeployment(), changed: [] },
  { type: 'deleted', before: on('a'), now: on('a'), changed: ['a'] },
] as const)('$type: $changed', ({ type, before, now, changed }) => {
  expect(changedDependencies({ type, object: now, previous: before })).toEqual(changed);
});
