import { describe, expect, test } from 'vitest';
import type { AdmissionRequest, AdmissionVerdict } from '../review.ts';
import { changedByMutator } from './changed-by.ts';

const key = 'core.rukpak.io/changed-by';
const path = '/metadata/annotations/core.rukpak.io~1changed-by';
const signal = new AbortController().signal;

function aDeployment(annotations?: Readonly<Record<string, string>>, spec: object = { a: 1 }) {
  return { metadata: { name: 'demo', ...(annotations && { annotations }) }, spec };
}

async function review(fields: Partial<AdmissionRequest>): Promise<AdmissionVerdict> {
  const request = { uid: '1', operation: 'UPDATE', userInfo: { username: 'alice' } } as const;
  return await changedByMutator({ ...request, ...fields }, signal);
}

describe('the recorded user is', () => {
  test('the user that creates it, whatever it says itself', async () => {
    const fields = { operation: 'CREATE' } as const;
    expect(await review({ ...fields, object: aDeployment() })).toEqual({
      allowed: true,
      patch: [{ op: 'add', path: '/metadata/annotations', value: { [key]: 'alice' } }],
    });
    expect(await review({ ...fields, object: aDeployment({ [key]: 'bob' }) })).toEqual({
      allowed: true,
      patch: [{ op: 'add', path, value: 'alice' }],
    });
  });

  test('the user that changes its spec', async () => {
    const oldObject = aDeployment({ [key]: 'bob' });
    const object = aDeployment({ [key]: 'bob' }, { a: 2 });
    expect((await review({ oldObject, object })).patch).toEqual([
      { op: 'add', path, value: 'alice' },
    ]);
    const again = { oldObject: aDeployment({ [key]: 'alice' }) };
    expect(await review({ ...again, object: aDeployment({ [key]: 'alice' }, { a: 2 }) })).toEqual({
      allowed: true,
    });
  });

  test('the one from before where the spec is not changed, or only paused', async () => {
    const oldObject = aDeployment({ [key]: 'bob' });
    const mine = aDeployment({ [key]: 'alice', other: 'x' });
    const restored = [{ op: 'add', path, value: 'bob' }];
    expect((await review({ oldObject, object: mine })).patch).toEqual(restored);
    expect((await review({ oldObject, object: aDeployment({ other: 'x' }) })).patch).toEqual(
      restored,
    );
    const paused = aDeployment({ [key]: 'bob' }, { a: 1, paused: true });
    expect(await review({ oldObject, object: paused })).toEqual({ allowed: true });
  });

  test('none when none was recorded before', async () => {
    const object = aDeployment({ [key]: 'alice' });
    expect((await review({ oldObject: aDeployment(), object })).patch).toEqual([
      { op: 'remove', path },
    ]);
  });
});

test.each<[string, Partial<AdmissionRequest>]>([
  ['a status', { subResource: 'status', object: aDeployment(), oldObject: aDeployment({}, {}) }],
  ['a deletion', { operation: 'DELETE', oldObject: aDeployment() }],
  ['what it cannot read', { operation: 'CREATE', object: 'odd' }],
  ['what was odd before', { object: aDeployment(), oldObject: 'odd' }],
])('%s passes as it is', async (_, fields) => {
  expect(await review(fields)).toEqual({ allowed: true });
});
