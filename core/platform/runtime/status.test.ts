import { describe, expect, test } from 'vitest';
import { cpuTime } from '../../../test/helpers/cpu-time.ts';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import type { Clock } from '../clock.ts';
import { conditionMessage, setCondition, statusPatch } from './status.ts';

function clockAt(iso: string): Clock {
  const now = (): number => Date.parse(iso);
  return { now, monotonic: now, sleep: async () => undefined };
}

const failed = {
  type: 'Unpacked',
  status: 'False',
  reason: 'UnpackFailed',
  message: 'no',
} as const;

describe('setCondition', () => {
  test('appends a new type and stamps it in whole seconds', () => {
    expect(setCondition([], failed, clockAt('2026-01-02T03:04:05.678Z'))).toEqual([
      { ...failed, lastTransitionTime: '2026-01-02T03:04:05Z' },
    ]);
  });

  test('keeps the transition time while the status stays', () => {
    const before = setCondition([], failed, clockAt('2026-01-01T00:00:00Z'));
    const after = setCondition(
      before,
      { ...failed, message: 'other' },
      clockAt('2026-01-02T00:00:00Z'),
    );
    expect(after[0]).toMatchObject({
      message: 'other',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    });
  });

  test('moves the transition time when the status flips, and keeps the order', () => {
    const other = { type: 'Other', status: 'True', reason: 'R', message: '' } as const;
    const early = clockAt('2026-01-01T00:00:00Z');
    const before = setCondition(setCondition([], failed, early), other, early);
    const after = setCondition(
      before,
      { ...failed, status: 'True' },
      clockAt('2026-01-02T00:00:00Z'),
    );
    expect(after.map((condition) => condition.type)).toEqual(['Unpacked', 'Other']);
    expect(after[0]?.lastTransitionTime).toBe('2026-01-02T00:00:00Z');
  });

  test('returns the same array where nothing changes', () => {
    const before = setCondition([], failed, clockAt('2026-01-01T00:00:00Z'));
    expect(setCondition(before, failed, clockAt('2027-01-01T00:00:00Z'))).toBe(before);
  });
});

describe('conditionMessage', () => {
  test('cuts below the limit of the schema, never inside a surrogate pair', () => {
    const text = conditionMessage('😀'.repeat(20_000));
    expect(text.length).toBeLessThanOrEqual(32_768);
    expect(text.isWellFormed()).toBe(true);
  });

  test('drops credentials from URLs and tokens', () => {
    expect(conditionMessage('GET https://me:secret@host/x failed')).toBe(
      'GET https://host/x failed',
    );
    expect(conditionMessage('sent Bearer abcdefghijklmnop')).toBe('sent Bearer ***');
  });

  test('drops the local address, which changes at every try', () => {
    expect(conditionMessage('read tcp 10.0.0.1:53412->10.0.0.2:443: reset')).toBe(
      'read tcp 10.0.0.2:443: reset',
    );
  });

  test('drops credentials however long or odd they are', () => {
    const token = 'x'.repeat(2000);
    expect(conditionMessage(`GET https://me:${token}@host/x`)).toBe('GET https://host/x');
    expect(conditionMessage('GET https://me:p@ss"w\'rd@host/x@y')).toBe('GET https://host/x@y');
  });

  test('shows control characters instead of sending them to a terminal', () => {
    expect(conditionMessage('a\u001b[2Jb\u0000c\nd\te\u009b')).toBe('a\\x1b[2Jb\\x00c\nd\te\\x9b');
  });

  test.each([
    ['dotted words', 'a.'],
    ['schemes', 'a://'],
    ['brackets', '['],
    ['addresses', '1.1.1.1:1'],
    ['digits', '1'],
    ['local addresses', ' - Local ('],
    ['tokens', 'Basic '],
  ])('takes no time for megabytes of %s', (_, piece) => {
    const text = piece.repeat(5_000_000 / piece.length);
    const start = cpuTime();
    conditionMessage(text);
    expect(cpuTime() - start).toBeLessThan(2_000);
  });
});

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
