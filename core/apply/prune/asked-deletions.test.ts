import { expect, test } from 'vitest';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { askedIn, askedKeys } from './asked-deletions.ts';
import { guardPrune } from './prune-guard.ts';

const claim = anOwnedEntry('PersistentVolumeClaim', { name: 'claim' });
const monitor = anOwnedEntry('ConfigMap', { name: 'monitor' });
const gizmo = anOwnedEntry('Gizmo.example.com', { name: 'gizmo' });
const unserved = [{ group: 'example.com', kind: 'Gizmo' }];
const nothing = { entries: [], unserved: [] };

test('everything is asked for when the content has changed', () => {
  expect([claim, monitor].every(askedIn({}))).toBe(true);
  expect(askedKeys({}, nothing)).toBeUndefined();
});

test('otherwise what was asked for before, with exactly its UID', () => {
  const askedBefore = askedKeys({}, { entries: [claim], unserved: [] }) ?? [];
  const later = { deletionsAsked: false, askedBefore };
  const isAsked = askedIn(later);
  expect(isAsked(claim)).toBe(true);
  expect(isAsked(monitor)).toBe(false);
  const again = anOwnedEntry('PersistentVolumeClaim', { name: 'claim', metadata: { uid: 'new' } });
  expect(isAsked(again)).toBe(false);
  expect(askedKeys(later, { entries: [claim, monitor], unserved })).toEqual(askedBefore);
});

test('a kind that was not served at that time is asked for as a whole', () => {
  const askedBefore = askedKeys({}, { entries: [], unserved }) ?? [];
  const later = { deletionsAsked: false, askedBefore };
  expect(askedIn(later)(gizmo)).toBe(true);
  expect(askedKeys(later, { entries: [], unserved })).toEqual(askedBefore);
});

test('what nobody asked for waits beside what waits for another reason, and nothing else', async () => {
  const free = anOwnedEntry('ConfigMap', { name: 'free' });
  const askedBefore = askedKeys({}, { entries: [claim, free], unserved: [] });
  const deployment = aStoredDeployment();
  const owner = { ...deployment, spec: { ...deployment.spec, prune: { confirmData: true } } };
  const { go, held, status } = await guardPrune([claim, free, monitor], {
    owner,
    wanted: 9,
    state: { confirmedPrunes: new Set() },
    deletionsAsked: false,
    changedFacts: 'an API group is gone',
    askedBefore,
    client: { list: async () => ({ metadata: { resourceVersion: '1' }, items: [] }) },
    discovery: { resourceForGroupKind: async () => undefined },
    signal: new AbortController().signal,
  });
  expect(go).toEqual([free]);
  expect(held).toEqual([monitor, claim]);
  expect(status?.reason).toBe(
    'the class no longer renders them from the same template, config and inputs: an API group is gone; ' +
      'they contain data, which spec.prune.confirmData protects',
  );
});

test('where nothing that was asked for waits any more, what nobody asked for still waits', () => {
  const later = { deletionsAsked: false, askedBefore: ['gone'] };
  const left = askedKeys(later, { entries: [monitor], unserved: [] });
  expect(left).toEqual([]);
  expect(askedIn({ deletionsAsked: false, askedBefore: left })(monitor)).toBe(false);
  expect(askedKeys(later, nothing)).toBeUndefined();
  // The last complete apply was of this content: it explains the deletions.
  expect(askedKeys({ deletionsAsked: false }, { entries: [monitor], unserved: [] })).toBe(
    undefined,
  );
});
