import { expect, test } from 'vitest';
import { anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { shownEntry, waitingMessage } from './removal-watch.ts';

const deletionTimestamp = '2026-01-01T00:00:30Z';

test('an object that finalizers hold is shown rather than one that just goes', () => {
  const plain = anOwnedEntry('ConfigMap', { name: 'plain' });
  const held = anOwnedEntry('ConfigMap', { name: 'held', metadata: { finalizers: ['a/b'] } });
  expect(shownEntry([plain, held])).toBe(held);
  expect(shownEntry([plain])).toBe(plain);
  expect(shownEntry([])).toBeUndefined();
});

test('the object, since when, and its finalizers are told', () => {
  const metadata = {
    deletionTimestamp,
    deletionGracePeriodSeconds: 30,
    finalizers: ['example.com/a', 'example.com/b'],
  };
  const entry = anOwnedEntry('Gizmo.example.com', { name: 'one', metadata });
  expect(waitingMessage(entry, 3)).toBe(
    'Waiting for Gizmo/n/one and 2 more to be deleted (deletion requested at 2026-01-01T00:00:00Z), ' +
      'blocked by its finalizers example.com/a, example.com/b',
  );
  const fresh = anOwnedEntry('ConfigMap', { name: 'cm' });
  expect(waitingMessage(fresh, 1)).toBe('Waiting for ConfigMap/n/cm to be deleted');
});

test('a namespace says itself what is left in it', () => {
  const entry = anOwnedEntry('Namespace', { name: 'ns', metadata: { deletionTimestamp } });
  const conditions = [
    { type: 'NamespaceContentRemaining', status: 'True', message: 'x has 1 resource instances' },
    { type: 'NamespaceDeletionContentFailure', status: 'False', message: 'All content deleted' },
  ];
  const object = { ...entry.object, status: { conditions } };
  expect(waitingMessage({ ...entry, object }, 1)).toBe(
    'Waiting for Namespace/ns to be deleted (deletion requested at 2026-01-01T00:00:30Z). x has 1 resource instances',
  );
});
