import { beforeEach, expect, test } from 'vitest';
import { EventList } from '../../test/helpers/event-list.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { anOwnedEntry, aResource } from '../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import type { ApplyRequest, RememberedResult } from '../contracts/applier.ts';
import type { InventoryEntry } from './inventory/entry.ts';
import { Inventory } from './inventory/inventory.ts';
import type { GroupKind } from './objects/object-id.ts';
import type { Run } from './plan/plan.ts';
import { askedIn } from './prune/asked-deletions.ts';
import { RollOut } from './roll-out.ts';
import { OwnerStates } from './state/owner-state.ts';

const signal = new AbortController().signal;
const refusal = new Error('a policy says no');

/** Kinds of the annotation of the deployment. */
let marked: GroupKind[];
let unwanted: InventoryEntry;
let remembered: RememberedResult[];

beforeEach(() => {
  marked = [];
  unwanted = anOwnedEntry('ConfigMap', { name: 'unwanted' });
  remembered = [];
});

/** Applies a ConfigMap and a hook; `write` is what becomes of its objects. */
async function apply(write: () => void): Promise<void> {
  const owner = aStoredDeployment();
  const owners = new OwnerStates(new ManualClock());
  const resources = [aResource('ConfigMap'), aResource('Gizmo.example.com')];
  const run = {
    owner,
    name: 'demo',
    state: owners.of('demo'),
    set: { resources, objects: [], ids: new Set(), omitted: [] },
    hooks: [],
    earlier: [{ group: 'apps', kind: 'Deployment' }],
    signal,
  } as unknown as Run;
  const rollOut = new RollOut({
    client: {} as never,
    owners,
    inventory: new Inventory(),
    events: new EventList(),
    earlierKinds: { areLost: () => false } as never,
    drift: {} as never,
    rules: { use: () => false } as never,
    parents: { kinds: () => marked } as never,
    optionalKinds: {} as never,
    namespaces: { find: async () => new Map(), note: () => undefined } as never,
    transfers: { keep: () => undefined } as never,
    planner: {
      begin: async () => run,
      watchKinds: async () => [],
      given: () => new Set(),
      plan: () => ({ pending: [{ desired: {} }], found: [] }),
      checkPermissions: async () => undefined,
    } as never,
    setWriter: {
      write: async () => {
        marked = [...run.set.resources];
        write();
        return { changes: 1 };
      },
    } as never,
    pruner: {
      unwanted: () => [unwanted],
      prune: async () => {
        throw refusal;
      },
    } as never,
    notify: () => undefined,
  });
  const remember = (found: RememberedResult) => void remembered.push(found);
  const request: ApplyRequest = { owner, objects: [], remember, signal };
  await expect(rollOut.apply(request)).rejects.toBe(refusal);
}

test('a write that fails leaves the kinds that may have objects to the status', async () => {
  await apply(() => {
    throw refusal;
  });
  const groupKinds = ['ConfigMap', 'Deployment.apps', 'Gizmo.example.com'];
  expect(remembered).toEqual([{ groupKinds }]);
});

test('a deletion that fails leaves what was asked to be deleted to the status, too', async () => {
  await apply(() => undefined);
  expect(remembered).toMatchObject([{ groupKinds: expect.arrayContaining(['ConfigMap']) }]);
  const [{ askedDeletions } = {}] = remembered;
  expect(askedIn({ deletionsAsked: false, askedBefore: askedDeletions })(unwanted)).toBe(true);
});
