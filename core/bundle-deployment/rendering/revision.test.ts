import { expect, test } from 'vitest';
import { aHook } from '../../../test/helpers/hooked-deployment.ts';
import { anObject } from '../../../test/helpers/registry-bundle.ts';
import { revisionOf } from './load-objects.ts';

const { signal } = new AbortController();
const split = { objects: [anObject('ConfigMap')], hooks: [aHook('a', 'pre-install')] };
const same = structuredClone(split);

test('a revision is the same for the same Bundle, objects and hooks', async () => {
  expect(await revisionOf('b', same, signal)).toBe(await revisionOf('b', split, signal));
});

test.each([
  ['Bundle', 'other', structuredClone(split)],
  ['object', 'b', { ...split, objects: [anObject('Secret')], hooks: [...split.hooks] }],
  ['hook', 'b', { ...split, hooks: [aHook('a', 'pre-upgrade')] }],
] as const)('a revision is another one for another %s', async (_, bundle, other) => {
  const revision = await revisionOf('b', split, signal);
  expect(await revisionOf(bundle, other, signal)).not.toBe(revision);
  expect(await revisionOf('another', split, signal)).not.toBe(revision);
});
