import { expect, test } from 'vitest';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { anOwnedCRD, anOwnedEntry } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import type { Forecast } from '../../contracts/applier.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import type { Run } from '../plan/plan.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { Forecaster } from './forecaster.ts';

const because = 'the deletion policy is KeepCRDs';

interface Removed {
  readonly remove?: readonly InventoryEntry[];
  /** The answer of the API server to every read. */
  readonly live?: object;
}

/** The forecast for an empty set, of a deployment that would orphan these objects. */
async function foreseen(
  orphan: ReadonlyMap<InventoryEntry, string>,
  { remove = [], live = {} }: Removed = {},
): Promise<Forecast> {
  const owner = aStoredDeployment();
  const clock = new ManualClock();
  const owners = new OwnerStates(clock);
  const { signal } = new AbortController();
  const run = {
    owner,
    state: owners.of('demo'),
    set: { objects: [], ids: new Set() },
    unchanged: false,
    signal,
  } as unknown as Run;
  const forecaster = new Forecaster({
    client: { get: async () => live } as never,
    clock,
    systemNamespace: 'rukpak-system',
    owners,
    namespaces: { find: async () => new Map() } as never,
    planner: {
      begin: async () => run,
      watchKinds: async () => [],
      given: () => new Set(),
      plan: () => ({ pending: [], found: [] }),
      checkPermissions: async () => undefined,
    } as never,
    pruner: { plan: async () => ({ orphan, remove, undecided: new Map() }) } as never,
  });
  return await forecaster.forecast({ owner, objects: [], signal });
}

test('has the objects that an apply would orphan, and its digest covers them', async () => {
  const crd = anOwnedCRD('Gizmo');
  const none = await foreseen(new Map());
  const one = await foreseen(new Map([[crd, because]]));
  expect(none.changes).toEqual([]);
  expect(one.changes).toEqual([
    {
      action: 'Orphan',
      group: 'apiextensions.k8s.io',
      kind: 'CustomResourceDefinition',
      name: 'gizmos.example.com',
      because,
    },
  ]);
  expect(one.digest).not.toBe(none.digest);
  const { object } = crd;
  const recreated = { ...object, metadata: { ...object.metadata, uid: 'another' } };
  const other = await foreseen(new Map([[{ ...crd, object: recreated }, because]]));
  expect(other.digest).not.toBe(one.digest);
  // The reason may name one of several objects.
  const explained = await foreseen(new Map([[crd, 'Gizmo/n/one is kept']]));
  expect(explained.digest).toBe(one.digest);
});

test('warns of a CRD that would stay without the Service of its conversion webhook', async () => {
  const crd = anOwnedCRD('Gizmo');
  const service = anOwnedEntry('Service', { name: 'painter-service' });
  const clientConfig = { service: { namespace: 'n', name: 'painter-service' } };
  const versions = [
    { name: 'v1', served: true },
    { name: 'v2', served: true, storage: true },
  ];
  const conversion = { strategy: 'Webhook', webhook: { clientConfig } };
  const live = { ...crd.object, spec: { conversion, versions } };
  const { warnings } = await foreseen(new Map([[crd, because]]), { remove: [service], live });
  expect(warnings).toEqual([
    expect.stringContaining('stays, and core deletes Service/n/painter-service'),
  ]);
});
