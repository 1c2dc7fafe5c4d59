import { beforeEach, expect, test } from 'vitest';
import { EventList } from '../../test/helpers/event-list.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { anOwnedEntry, aResource } from '../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../test/helpers/stored-objects.ts';
import type { ApplyRequest, ApplyResult, RememberedResult } from '../contracts/applier.ts';
import type { InventoryEntry } from './inventory/entry.ts';
import { Inventory } from './inventory/inventory.ts';
import type { GroupKind } from './objects/object-id.ts';
import { groupKindNames } from './objects/owner-marks.ts';
import type { Run } from './plan/plan.ts';
import { askedIn } from './prune/asked-deletions.ts';
import { RollOut } from './roll-out.ts';
import { OwnerStates } from './state/owner-states.ts';

const signal = new AbortController().signal;
const refusal = new Error('a policy says no');

/** Kinds of the annotation of the deployment. */
let marked: readonly GroupKind[];
let inventory: Inventory;
let unwanted: InventoryEntry;
let remembered: RememberedResult[];
let steps: string[];
let owners: OwnerStates;

beforeEach(() => {
  marked = [];
  inventory = new Inventory();
  unwanted = anOwnedEntry('ConfigMap', { name: 'unwanted' });
  remembered = [];
  steps = [];
  owners = new OwnerStates(new ManualClock());
});

interface Steps {
  readonly write?: () => void;
  /** Kinds of objects whose deletion waits. */
  readonly prune?: () => readonly InventoryEntry[];
  readonly standsIn?: boolean;
}

function refuse(): never {
  throw refusal;
}

/** Applies a ConfigMap and a custom resource. */
async function apply({
  write = () => undefined,
  prune = () => [],
  standsIn = false,
}: Steps): Promise<ApplyResult> {
  const owner = aStoredDeployment();
  const resources = [aResource('ConfigMap'), aResource('Gizmo.example.com')];
  const run = {
    owner,
    name: 'demo',
    state: owners.of('demo'),
    set: { resources, objects: [], ids: new Set(), omitted: [] },
    hooks: [],
    earlier: [{ group: 'apps', kind: 'Deployment' }],
    standsIn,
    signal,
  } as unknown as Run;
  const rollOut = new RollOut({
    client: {} as never,
    owners,
    inventory,
    events: new EventList(),
    earlierKinds: { areLost: () => false } as never,
    drift: {} as never,
    rules: { use: () => false } as never,
    parents: {
      kinds: () => marked,
      write: async (_: unknown, kinds: readonly GroupKind[]) => void (marked = kinds),
    } as never,
    optionalKinds: { await: () => undefined } as never,
    namespaces: { find: async () => new Map(), note: () => undefined } as never,
    transfers: { keep: () => undefined } as never,
    planner: {
      begin: async () => run,
      watchKinds: async () => {
        steps.push('watch');
        return [];
      },
      given: () => new Set(),
      plan: () => ({ pending: [{ desired: {} }], found: [] }),
      checkPermissions: async () => undefined,
    } as never,
    setWriter: {
      write: async () => {
        steps.push('write');
        marked = [...run.set.resources];
        write();
        return { changes: 1 };
      },
    } as never,
    pruner: {
      unwanted: () => [unwanted],
      prune: async () => {
        steps.push('prune');
        return { changes: 0, held: prune() };
      },
    } as never,
    notify: () => undefined,
  });
  const remember = (found: RememberedResult) => void remembered.push(found);
  const begin = async () => void steps.push('begin');
  const request: ApplyRequest = { owner, objects: [], remember, begin, signal };
  return await rollOut.apply(request);
}

test('a write that fails leaves the kinds that may have objects to the status', async () => {
  await expect(apply({ write: refuse })).rejects.toBe(refusal);
  const groupKinds = ['ConfigMap', 'Deployment.apps', 'Gizmo.example.com'];
  expect(remembered).toEqual([{ groupKinds }]);
});

test('a deletion that fails leaves what was asked to be deleted to the status, too', async () => {
  await expect(apply({ prune: refuse })).rejects.toBe(refusal);
  expect(remembered).toMatchObject([{ groupKinds: expect.arrayContaining(['ConfigMap']) }]);
  const [{ askedDeletions } = {}] = remembered;
  expect(askedIn({ deletionsAsked: false, askedBefore: askedDeletions })(unwanted)).toBe(true);
});

test('an apply keeps the kinds of live objects of hooks that the bundle no longer has', async () => {
  const annotations = { 'core.rukpak.io/hook-run': 'pre-install' };
  const metadata = { annotations };
  anOwnedEntry('PersistentVolumeClaim', { name: 'of-hook', metadata }, inventory);
  anOwnedEntry('Job.batch', { name: 'deleted', metadata }, inventory).deleted = true;
  const copy = { annotations: { ...annotations, 'core.rukpak.io/tracking-id': 'other:' } };
  anOwnedEntry('Secret', { name: 'copy', metadata: copy }, inventory);
  anOwnedEntry('Service', { name: 'dropped' }, inventory);
  const kinds = ['ConfigMap', 'Gizmo.example.com', 'PersistentVolumeClaim'];
  expect(await apply({})).toMatchObject({ groupKinds: kinds });
  expect(groupKindNames(marked)).toEqual(kinds);
});

test('a watch that ended during the writes shows its objects again before the prune', async () => {
  await apply({});
  expect(steps).toEqual(['watch', 'write', 'watch', 'begin', 'prune']);
});

test('no other deployment may take what the content may have that another set stands in for', async () => {
  const holder = () => owners.of('other').otherHolder(unwanted.id);
  await apply({ standsIn: true });
  expect(holder()).toBe('demo');
  await apply({ prune: () => [unwanted] });
  expect(holder()).toBeUndefined();
});

test('a set that stands in for another one deletes nothing, and leaves the kinds of that one', async () => {
  const { blocked, ...result } = await apply({ standsIn: true });
  expect(steps).not.toContain('prune');
  expect(blocked).toEqual({
    reason: 'PruneHeld',
    message:
      'not deleted: ConfigMap/n/unwanted: core only keeps the active Bundle in place, and decides about them when it can roll out the present spec',
  });
  expect(groupKindNames(marked)).toEqual(['ConfigMap', 'Deployment.apps', 'Gizmo.example.com']);
  expect(result).toMatchObject({ complete: true, groupKinds: groupKindNames(marked) });
  expect(askedIn({ deletionsAsked: false, askedBefore: result.askedDeletions })(unwanted)).toBe(
    true,
  );
});
