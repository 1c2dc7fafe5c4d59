import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleName, templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { ApiError } from '../../platform/kube/index.ts';
import { Inventory } from '../inventory/inventory.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { renderingOf } from './applied-spec.ts';
import { Transfers } from './transfers.ts';

const desired = aDesiredObject({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'n' },
});

const dropped = [new Inventory().put(desired.resource, desired.object)];
const { signal } = new AbortController();

let inventory: Inventory;
let owners: OwnerStates;
let transfers: Transfers;
let clock: ManualClock;
let woken: string[];
let version: number;

beforeEach(() => {
  inventory = new Inventory();
  woken = [];
  version = 1;
  clock = new ManualClock();
  owners = new OwnerStates(clock);
  transfers = transfersAmong();
  inventory.subscribe(transfers);
});

function transfersAmong(...deployments: readonly BundleDeployment[]): Transfers {
  const get = async (_resource: unknown, { name }: { readonly name: string }) => {
    const found = deployments.find((each) => each.metadata.name === name);
    if (found === undefined) throw new ApiError(404, { reason: 'NotFound' });
    return found;
  };
  const notify = (owner: string): void => void woken.push(owner);
  const events = new EventList();
  return new Transfers({ client: { get }, inventory, owners, events, clock, signal, notify });
}

function of(owner: string): KubernetesObject {
  version += 1;
  const labels = { ...desired.object.metadata.labels, 'core.rukpak.io/owner-name': owner };
  return {
    ...desired.object,
    metadata: { ...desired.object.metadata, labels, resourceVersion: `${version}` },
  };
}

function seen(owner: string): void {
  inventory.sink(desired.resource).upsert(of(owner));
}

function aGiver(handOver?: string): BundleDeployment {
  const annotations = handOver === undefined ? {} : { 'core.rukpak.io/hand-over': handOver };
  return aStoredDeployment({ metadata: { name: 'demo', annotations } });
}

test('what the taker has is given, and nothing else', () => {
  expect(transfers.given(aGiver('taker'), [desired]).size).toBe(0);
  seen('demo');
  expect(transfers.given(aGiver('taker'), [desired]).size).toBe(0);
  seen('taker');
  expect([...transfers.given(aGiver('x, taker'), [desired])]).toEqual([desired]);
  expect(transfers.given(aGiver('x'), [desired]).size).toBe(0);
  expect(transfers.given(aStoredDeployment(), [desired]).size).toBe(0);
});

test('the giver is woken when the object is gone or goes to another one, not before', () => {
  seen('taker');
  transfers.keep(owners.of('demo'), transfers.given(aGiver('taker'), [desired]));
  seen('taker');
  expect(woken).toEqual([]);
  seen('third');
  expect(woken).toEqual(['demo']);
  inventory.sink(desired.resource).remove(of('third'));
  expect(woken).toEqual(['demo', 'demo']);
});

test('the giver is woken when the taker makes the object nobody’s', () => {
  seen('taker');
  transfers.keep(owners.of('demo'), transfers.given(aGiver('taker'), [desired]));
  const entry = inventory.get(desired.resource, desired.key);
  if (entry !== undefined) inventory.orphan(entry);
  expect(woken).toEqual(['demo']);
});

test('the giver is not woken for what it no longer has in its bundle', () => {
  seen('taker');
  transfers.keep(owners.of('demo'), transfers.given(aGiver('taker'), [desired]));
  transfers.keep(owners.of('demo'), new Set());
  inventory.sink(desired.resource).remove(of('taker'));
  expect(woken).toEqual([]);
});

function condition(type: string, reason: string, status: 'True' | 'False' = 'True') {
  return { type, status, reason, message: '', lastTransitionTime: '' };
}

const [valid, installed] = [
  condition('HasValidBundle', 'UnpackSuccessful'),
  condition('Installed', 'InstallationSucceeded'),
];
const late = condition('Progressing', 'ProgressDeadlineExceeded', 'False');
const { spec } = aStoredDeployment();
const activeBundle = bundleName('taker', templateHash(spec.template));
const applied = { bundle: activeBundle, uid: 'u', rendering: renderingOf(spec) };
const settled = { observedGeneration: 1, activeBundle, conditions: [valid, installed], applied };
const former = { ...applied, rendering: renderingOf({ ...spec, config: { size: 'small' } }) };
const ill = [condition('Healthy', 'Unhealthy', 'False'), condition('Ready', 'Unhealthy', 'False')];
test.each([
  ['is new', undefined],
  ['has a spec that it has not looked at', { ...settled, observedGeneration: 0 }],
  [
    'unpacks another Bundle',
    { ...settled, conditions: [condition('HasValidBundle', 'UnpackPending'), installed] },
  ],
  ['has the Bundle of the template before', { ...settled, activeBundle: 'taker-former' }],
  [
    'could not apply another config yet',
    { ...settled, conditions: [valid, installed, condition('Ready', 'ReconcileFailed', 'False')] },
  ],
  [
    'is unhealthy, and could not apply another config yet',
    { ...settled, conditions: [valid, installed, ...ill], applied: former },
  ],
  [
    'keeps the config before in place, and what that lacks',
    {
      ...settled,
      conditions: [valid, installed, condition('Progressing', 'PruneHeld', 'False')],
      applied: former,
    },
  ],
  ['has begun to apply something else', { ...settled, applied: { ...applied, superseded: true } }],
  ['has a status of an earlier version', { ...settled, applied: undefined }],
  [
    'was refused',
    { ...settled, conditions: [valid, condition('Installed', 'InstallFailed', 'False')] },
  ],
  [
    'waits for something',
    { ...settled, conditions: [valid, installed, condition('Progressing', 'Paused', 'False')] },
  ],
  [
    'does not get a new Bundle rolled out in time',
    { ...settled, activeBundle: 'taker-former', conditions: [valid, installed, late] },
  ],
])('nothing is deleted while one that may take it %s', async (_, status) => {
  const taker = aStoredDeployment({ name: 'taker', ...(status && { status }) });
  const takers = transfersAmong(taker);
  expect(await takers.pending(aGiver('demo,taker'), dropped, signal)).toEqual({
    reason: 'PruneHeld',
    message:
      'not deleted: ConfigMap/n/c: BundleDeployment "taker" may adopt them, and has not rolled out ' +
      'its current spec yet. To delete them: kubectl annotate bundledeployment demo core.rukpak.io/hand-over-',
  });
});

test.each([
  ['nobody is named', aGiver(), []],
  [
    'it is being deleted',
    aGiver('taker'),
    [
      aStoredDeployment({
        metadata: { name: 'taker', deletionTimestamp: '2026-01-01T00:00:00Z' },
      }),
    ],
  ],
  [
    'it has all that it wants',
    aGiver('taker'),
    [aStoredDeployment({ name: 'taker', status: settled })],
  ],
  [
    'it has all that it wants, and is not healthy in time',
    aGiver('taker'),
    [
      aStoredDeployment({
        name: 'taker',
        status: {
          ...settled,
          conditions: [valid, installed, late],
        },
      }),
    ],
  ],
  [
    'it waits with deletions of its own',
    aGiver('taker'),
    [
      aStoredDeployment({
        name: 'taker',
        status: {
          ...settled,
          conditions: [valid, installed, condition('Progressing', 'PruneHeld', 'False')],
          applied: { ...former, superseded: true },
          waitingDeletions: { ...applied, objects: ['1'] },
        },
      }),
    ],
  ],
  [
    'it has all that it wants, and is unhealthy',
    aGiver('taker'),
    [
      aStoredDeployment({
        name: 'taker',
        status: { ...settled, conditions: [valid, installed, ...ill] },
      }),
    ],
  ],
])('nothing is waited for after a moment where %s', async (_, giver, deployments) => {
  const takers = transfersAmong(...deployments);
  await takers.pending(giver, dropped, signal);
  clock.advance(10_000);
  expect(await takers.pending(giver, dropped, signal)).toBeUndefined();
});

describe('one kubectl apply changes the giver first', () => {
  const taker = aStoredDeployment({ name: 'taker', status: settled });
  const held = {
    reason: 'PruneHeld',
    message:
      'not deleted: ConfigMap/n/c: core waits 10 s, in case BundleDeployment "taker" changes too, and adopts them',
  };

  test('and what it drops is not deleted before the taker changes too', async () => {
    const takers = transfersAmong(taker);
    expect(await takers.pending(aGiver('taker'), dropped, signal)).toEqual(held);
    clock.advance(5000);
    await turn();
    expect(woken).toEqual(['demo']);
    expect(await takers.pending(aGiver('taker'), dropped, signal)).toEqual(held);
    clock.advance(5000);
    await turn();
    expect(woken).toEqual(['demo', 'demo']);
    expect(await takers.pending(aGiver('taker'), dropped, signal)).toBeUndefined();
  });

  test('and each object that it drops later has its own time', async () => {
    const takers = transfersAmong(taker);
    await takers.pending(aGiver('taker'), dropped, signal);
    clock.advance(10_000);
    const later = aDesiredObject({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'later', namespace: 'n' },
    });
    const both = [...dropped, new Inventory().put(later.resource, later.object)];
    const found = await takers.pending(aGiver('taker'), both, signal);
    expect(found?.message).toContain('not deleted: ConfigMap/n/c, ConfigMap/n/later: core waits');
  });

  test('also when the giver had dropped it before, and had it again', async () => {
    const takers = transfersAmong(taker);
    await takers.pending(aGiver('taker'), dropped, signal);
    clock.advance(10_000);
    await takers.pending(aGiver('taker'), [], signal);
    expect(await takers.pending(aGiver('taker'), dropped, signal)).toEqual(held);
  });

  test('without a hand-over nothing waits', async () => {
    expect(await transfersAmong(taker).pending(aGiver(), dropped, signal)).toBeUndefined();
  });
});

test.each(['taker', 'settled,taker'])(
  'nothing is deleted while one of %s does not exist, and its creation is waited for',
  async (names) => {
    const { template } = aStoredDeployment().spec;
    const activeBundle = bundleName('settled', templateHash(template));
    const status = { ...settled, activeBundle };
    const takers = transfersAmong(aStoredDeployment({ name: 'settled', status }));
    expect(await takers.pending(aGiver(names), dropped, signal)).toEqual({
      reason: 'PruneHeld',
      message:
        'not deleted: ConfigMap/n/c: BundleDeployment "taker" may adopt them, and does not exist. ' +
        'Create it, or remove its name from annotation core.rukpak.io/hand-over of BundleDeployment "demo"',
    });
    clock.advance(60_000);
    await turn();
    expect(woken).toEqual([]);
  },
);

test('the giver looks again after a while, once', async () => {
  const takers = transfersAmong(aStoredDeployment({ name: 'taker' }));
  await takers.pending(aGiver('taker'), dropped, signal);
  await takers.pending(aGiver('taker'), dropped, signal);
  clock.advance(5000);
  await turn();
  expect(woken).toEqual(['demo']);
});

describe('a giver that is being deleted', () => {
  test('waits for the deployment that may adopt its objects', async () => {
    const takers = transfersAmong(aStoredDeployment({ name: 'taker' }));
    expect(await takers.pendingDeletion(aGiver('taker'), dropped, signal)).toBe(
      'not deleted: ConfigMap/n/c: BundleDeployment "taker" may adopt them, and has not rolled out its current spec yet. ' +
        'To delete them: kubectl annotate bundledeployment demo core.rukpak.io/hand-over-',
    );
    clock.advance(5000);
    await turn();
    expect(woken).toEqual(['demo']);
  });

  test.each([
    ['has nothing', [], 'taker'],
    ['transfers nothing', dropped, undefined],
    ['names one that does not exist', dropped, 'none'],
    ['names one that has rolled out its spec', dropped, 'taker'],
  ])('waits for nobody if it %s', async (_, doomed, handOver) => {
    const { template } = aStoredDeployment().spec;
    const status = { ...settled, activeBundle: bundleName('taker', templateHash(template)) };
    const takers = transfersAmong(aStoredDeployment({ name: 'taker', status }));
    expect(await takers.pendingDeletion(aGiver(handOver), doomed, signal)).toBeUndefined();
  });
});
