import { beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aResource } from '../../../test/helpers/owned-entry.ts';
import type { AppliedRecord } from './applied-record.ts';
import { type OwnerState } from './owner-state.ts';
import { OwnerStates } from './owner-states.ts';

let owners: OwnerStates;
let one: OwnerState;
let two: OwnerState;

beforeEach(() => {
  owners = new OwnerStates(new ManualClock());
  [one, two] = [owners.of('one'), owners.of('two')];
});

test('the first one has an object until it gives it up', () => {
  expect(one.claim(['a', 'b'])).toEqual(['a', 'b']);
  expect(two.claim(['b', 'c'])).toEqual(['c']);
  expect(one.otherHolder('a')).toBeUndefined();
  expect(two.otherHolder('b')).toBe('one');
  two.release(['b']);
  expect(two.otherHolder('b')).toBe('one');
  one.settle(new Set(['a']));
  expect(two.otherHolder('b')).toBeUndefined();
  expect(two.otherHolder('a')).toBe('one');
  owners.forget('one');
  expect(two.otherHolder('a')).toBeUndefined();
});

test('taking again yields only what is new', () => {
  one.claim(['a']);
  expect(one.claim(['a', 'b'])).toEqual(['b']);
});

test('a transferred object changes its holder at once', () => {
  one.claim(['a', 'b']);
  two.seize(['a', 'c']);
  expect(one.otherHolder('a')).toBe('two');
  expect(two.otherHolder('b')).toBe('one');
  owners.forget('one');
  expect(one.otherHolder('a')).toBe('two');
});

test('all that an owner wants is known once it said so, until it is gone', () => {
  one.claim(['a']);
  expect(owners.of('one').isSettled).toBe(false);
  one.settle(new Set(['a']));
  expect(owners.of('one').isSettled).toBe(true);
  owners.forget('one');
  expect(owners.of('one').isSettled).toBe(false);
});

function aRecord(id: string, owner: string): AppliedRecord {
  const resource = aResource('ConfigMap');
  const key = { namespace: 'n', name: id };
  return { id, owner, resource, key, digest: 'd', projection: '', problem: undefined };
}

test('of each object there is one record, of the deployment that applied it last', () => {
  one.addMembers(['b', 'a']);
  two.addMembers(['a']);
  for (const id of ['a', 'b']) one.setRecord(aRecord(id, 'one'));
  expect(one.records.map(({ id }) => id)).toEqual(['b', 'a']);
  two.setRecord(aRecord('a', 'two'));
  one.dropRecord('a');
  expect(one.records.map(({ id }) => id)).toEqual(['b']);
  expect(owners.recordOf('a')).toMatchObject({ owner: 'two' });
  one.setMembers([]);
  expect(owners.recordOf('b')).toBeUndefined();
});

test('what is forgotten of a deployment is all of its own, and nothing of others', () => {
  one.addMembers(['a', 'b']);
  two.addMembers(['c']);
  for (const id of ['a', 'b']) one.setRecord(aRecord(id, 'one'));
  two.setRecord(aRecord('c', 'two'));
  one.claim(['a', 'b']);
  two.claim(['c']);
  const review = new AbortController();
  one.reviews.set('a', review);
  owners.forget('one');
  expect(review.signal.aborted).toBe(true);
  expect([...owners]).toEqual([two]);
  expect(['a', 'b', 'c'].map((id) => owners.recordOf(id)?.owner)).toEqual([
    undefined,
    undefined,
    'two',
  ]);
  expect(['a', 'b', 'c'].map((id) => owners.of('one').otherHolder(id))).toEqual([
    undefined,
    undefined,
    'two',
  ]);
  expect(owners.of('one')).not.toBe(one);
});

test('events of objects concern those alone that wait for one, until they are forgotten', () => {
  expect([...owners.awaiting]).toEqual([]);
  one.removal = { ids: new Set(['a']), shown: 'a', since: 0 };
  two.given = new Map([['b', 'one']]);
  two.hook = { id: 'c', run: 'r' };
  expect([...owners.awaiting]).toEqual([one, two]);
  one.removal = undefined;
  two.given = new Map();
  expect([...owners.awaiting]).toEqual([two]);
  owners.forget('two');
  expect([...owners.awaiting]).toEqual([]);
});
