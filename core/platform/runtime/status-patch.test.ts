import { describe, expect, test } from 'vitest';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import { statusPatch } from './status-patch.ts';

const status = { phase: 'Pending', conditions: [] };

describe('statusPatch', () => {
  test('replaces the whole status of exactly this object', () => {
    const object = aStoredBundle({ status: { phase: 'Failing', contentURL: 'https://gone' } });
    expect(statusPatch(object, status)).toEqual([
      { op: 'test', path: '/metadata/uid', value: 'uid-of-demo' },
      { op: 'add', path: '/status', value: status },
    ]);
  });

  test.each<[string, object, object]>([
    ['the same', status, { conditions: [], phase: 'Pending' }],
    ['fields without a value', { phase: 'Pending' }, { phase: 'Pending', contentURL: undefined }],
  ])('is nothing where nothing changes: %s', (_, before, after) => {
    expect(statusPatch({ ...aStoredBundle(), status: before }, after)).toBeUndefined();
  });

  test('is nothing for an object without a status that gets none', () => {
    expect(statusPatch(aStoredBundle(), {})).toBeUndefined();
    expect(statusPatch(aStoredBundle(), { phase: undefined })).toBeUndefined();
  });

  test.each<[string, object]>([
    ['a field that is gone', { conditions: [] }],
    ['a list in another order', { phase: 'Pending', conditions: [2, 1] }],
    ['a value of another type', { phase: 'Pending', conditions: [1, '2'] }],
  ])('is there for %s', (_, after) => {
    const before = { phase: 'Pending', conditions: [1, 2] };
    expect(statusPatch({ ...aStoredBundle(), status: before }, after)).toHaveLength(2);
  });
});

test('a patch that must not go over news sets the version that it was made for', () => {
  const metadata = { name: 'x', uid: '1', resourceVersion: '7' };
  const object = { apiVersion: 'v1', kind: 'X', metadata };
  expect(statusPatch(object, { phase: 'A' }, { ifUnchanged: true })).toEqual([
    { op: 'test', path: '/metadata/uid', value: '1' },
    { op: 'add', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/status', value: { phase: 'A' } },
  ]);
});
