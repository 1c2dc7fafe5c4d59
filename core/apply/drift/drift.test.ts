import { setImmediate as turn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { someHealthRules } from '../../../test/helpers/in-process-judge.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import type { ObjectNews } from '../../contracts/applier.ts';
import type { Resource } from '../../platform/kube/index.ts';
import { Inventory } from '../inventory/inventory.ts';
import { objectID } from '../objects/object-id.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { DriftDetector } from './drift.ts';

const pods: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const key = { namespace: 'n', name: 'p' };
const id = objectID(pods, key);

let clock: ManualClock;
let inventory: Inventory;
let owners: OwnerStates;
let drift: DriftDetector;
let calls: string[];
let version: number;

beforeEach(() => {
  clock = new ManualClock();
  inventory = new Inventory();
  owners = new OwnerStates(clock);
  calls = [];
  version = 1;
  const { signal } = new AbortController();
  const notify = (owner: string, news: ObjectNews = 'change') =>
    void calls.push(news === 'change' ? owner : `${owner}: ${news}`);
  drift = new DriftDetector({
    inventory,
    owners,
    rules: someHealthRules(),
    clock,
    signal,
    notify,
  });
  inventory.subscribe(drift);
});

interface Seen {
  readonly fields?: object;
  readonly status?: object;
}

function live({
  fields = { 'f:spec': {} },
  status = { phase: 'Succeeded' },
}: Seen = {}): KubernetesObject {
  version += 1;
  const managedFields = [{ manager: 'rukpak-core', operation: 'Apply', fieldsV1: fields }];
  const labels = {
    'core.rukpak.io/owner-kind': 'BundleDeployment',
    'core.rukpak.io/owner-name': 'demo',
  };
  const metadata = { ...key, resourceVersion: String(version), labels, managedFields };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata,
    status,
  };
}

/** The response to a write of core. */
function answered(answer: KubernetesObject): void {
  const { projection } = inventory.put(pods, answer);
  const record = {
    id,
    owner: 'demo',
    resource: pods,
    key,
    digest: 'd',
    projection,
    problem: undefined,
  };
  owners.of('demo').setRecord(record);
  drift.health(record);
}

function applied(seen: Seen = {}): void {
  answered(live(seen));
}

const watch = () => inventory.sink(pods);

test('objects that were never applied are nobody’s business', () => {
  watch().upsert(live());
  watch().remove(live());
  expect(calls).toEqual([]);
});

test('a change of what is ours, and a deletion, are reported at once', () => {
  applied();
  watch().upsert(live({ fields: {} }));
  expect(calls).toEqual(['demo']);
  watch().remove(live());
  expect(calls).toEqual(['demo', 'demo']);
});

test('other words for what is not healthy are a detail, and its end is not', () => {
  applied({ status: { phase: 'Pending' } });
  watch().upsert(live({ status: { phase: 'Running' } }));
  expect(calls).toEqual(['demo: detail']);
  watch().upsert(live());
  expect(calls).toEqual(['demo: detail', 'demo']);
});

test('a change of status is reported only when the health changes', () => {
  applied({ status: { phase: 'Pending' } });
  watch().upsert(live({ status: { phase: 'Pending', podIP: '10.0.0.1' } }));
  expect(calls).toEqual([]);
  watch().upsert(live({ status: { phase: 'Running' } }));
  expect(calls).toEqual(['demo: detail']);
  watch().upsert(live({ status: { phase: 'Running', podIP: '10.0.0.2' } }));
  expect(calls).toEqual(['demo: detail']);
});

test('an own write is silent, even where its event comes first', () => {
  applied();
  drift.begin(id);
  watch().upsert(live({ fields: { 'f:more': {} } }));
  expect(calls).toEqual([]);
  applied({ fields: { 'f:more': {} } });
  drift.end(id, true);
  expect(calls).toEqual([]);
});

test('what others do while a write is under way is reported after it', () => {
  applied();
  drift.begin(id);
  const answer = live({ fields: { 'f:more': {} } });
  watch().upsert(live({ fields: {} }));
  answered(answer);
  drift.end(id, true);
  expect(calls).toEqual(['demo']);
});

test('so is that they deleted what was written, before the answer was here', () => {
  applied();
  drift.begin(id);
  const answer = live({ fields: { 'f:more': {} } });
  watch().upsert(answer);
  watch().remove(live());
  answered(answer);
  drift.end(id, true);
  expect(calls).toEqual(['demo']);
  expect(inventory.get(pods, key)).toBeUndefined();
});

test('what a write creates anew after a deletion is there', () => {
  applied();
  drift.begin(id);
  watch().remove(live());
  answered(live());
  drift.end(id, true);
  expect(calls).toEqual([]);
  expect(inventory.get(pods, key)).toBeDefined();
});

test('after a failed write nothing is reported: its caller tries again', () => {
  applied();
  drift.begin(id);
  watch().remove(live());
  drift.end(id, false);
  expect(calls).toEqual([]);
});

test('an object that others fight over is reported after a pause', async () => {
  applied();
  for (let repair = 0; repair < 4; repair += 1) owners.of('demo').repairs.repaired(id);
  watch().upsert(live({ fields: {} }));
  watch().upsert(live({ fields: { 'f:x': {} } }));
  expect(calls).toEqual([]);
  clock.advance(1999);
  await turn();
  expect(calls).toEqual([]);
  clock.advance(1);
  await turn();
  expect(calls).toEqual(['demo']);
});

test('a Pod that cannot be scheduled is reported when its time is over', async () => {
  const since = new Date(clock.now()).toISOString();
  const scheduled = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    lastTransitionTime: since,
  };
  applied({ status: { phase: 'Pending', conditions: [scheduled] } });
  clock.advance(14_999);
  await turn();
  expect(calls).toEqual([]);
  clock.advance(1);
  await turn();
  expect(calls).toEqual(['demo: detail']);
  expect(owners.recordOf(id)?.problem).toBe(
    '(/v1, Kind=Pod)(n/p): object Failed: Pod could not be scheduled',
  );
});
