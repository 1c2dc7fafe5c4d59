import { describe, expect, test } from 'vitest';
import type { ObjectMeta } from '../../../api/meta.ts';
import type { BundleDeploymentSpec } from '../../../api/v1alpha1/bundle-deployment.ts';
import { anOwnedCRD, anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { InventoryEntry } from '../inventory/inventory.ts';
import { timePrune } from './prune-when.ts';

const plain = anOwnedEntry('ConfigMap', { name: 'plain' });
const data: readonly InventoryEntry[] = [
  anOwnedEntry('PersistentVolumeClaim', { name: 'claim' }),
  anOwnedEntry('PersistentVolume', { name: 'volume' }),
  anOwnedEntry('StatefulSet.apps', { name: 'db' }),
  anOwnedEntry('Namespace', { name: 'ns' }),
  anOwnedCRD('Gizmo'),
  anOwnedEntry('Secret', {
    name: 'filled',
    metadata: { managedFields: [{ manager: 'operator', operation: 'Update' }] } as ObjectMeta,
  }),
];

function timed(spec: Partial<BundleDeploymentSpec>) {
  const problem = '(apps/v1, Kind=Deployment)(n/web): not available';
  const owner = aStoredDeployment();
  const applied = {
    owner: { spec: { ...owner.spec, ...spec } },
    set: { ids: new Set(['web', 'other']) },
    problemOf: (id: string) => (id === 'web' ? problem : undefined),
  };
  const { now, later, holdUp } = timePrune([plain, ...data], applied);
  return { now, later, message: holdUp?.message };
}

const rollback = { deadline: '5m' };

describe('before everything is healthy', () => {
  test('data waits, and nothing else', () => {
    expect(timed({})).toMatchObject({ now: [plain], later: data });
    expect(timed({ rollback, prune: { when: 'Applied' } })).toMatchObject({ now: [plain] });
  });

  test.each<Partial<BundleDeploymentSpec>>([{ rollback }, { prune: { when: 'Healthy' } }])(
    'everything waits with %j',
    (spec) => {
      const { now, later, message } = timed(spec);
      expect(now).toEqual([]);
      expect(later).toEqual([plain, ...data]);
      expect(message).toBe(
        'not deleted before all objects are healthy: ConfigMap/n/plain, ' +
          'PersistentVolumeClaim/n/claim, PersistentVolume/n/volume, StatefulSet/n/db, ' +
          'Namespace/ns and 2 more. Not healthy: (apps/v1, Kind=Deployment)(n/web): not available. ' +
          'If one of them has to go first, delete it with kubectl',
      );
    },
  );
});

test('nothing waits once everything is healthy', () => {
  const set = { ids: new Set(['web']) };
  const { spec } = aStoredDeployment();
  const applied = { owner: { spec: { ...spec, rollback } }, set, problemOf: () => undefined };
  expect(timePrune([plain, ...data], applied)).toEqual({ now: [plain, ...data], later: [] });
});
