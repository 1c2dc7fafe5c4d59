import { beforeEach, describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { aDesiredObject } from '../../../test/helpers/desired-objects.ts';
import { someHealthRules } from '../../../test/helpers/in-process-judge.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { Inventory } from '../inventory/inventory.ts';
import type { PlannedObject } from '../objects/desired.ts';
import { recordOf } from '../state/applied-record.ts';
import { type OwnerState } from '../state/owner-state.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { DriftDetector } from './drift.ts';
import { noteDrift, splitPlan } from './drift-policy.ts';

const desired = aDesiredObject({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'c', namespace: 'n' },
  data: { a: '1', b: '2' },
});

let inventory: Inventory;
let drift: DriftDetector;
let owners: OwnerStates;
let state: OwnerState;
let woken: number;
let version: number;

beforeEach(() => {
  const clock = new ManualClock();
  const { signal } = new AbortController();
  inventory = new Inventory();
  owners = new OwnerStates(clock);
  state = owners.of('demo');
  [woken, version] = [0, 1];
  const notify = () => void (woken += 1);
  const rules = someHealthRules();
  drift = new DriftDetector({
    inventory,
    owners,
    rules,
    clock,
    signal,
    notify,
  });
  inventory.subscribe(drift);
  state.addMembers([desired.id]);
  state.setRecord(
    recordOf(
      desired,
      inventory.put(desired.resource, live({ a: '1', b: '2' }, ['a', 'b'])),
      state.name,
    ),
  );
});

function live(data: object, own: readonly string[]): KubernetesObject {
  version += 1;
  const fieldsV1 = { 'f:data': Object.fromEntries(own.map((key) => [`f:${key}`, {}])) };
  const managedFields = [{ manager: 'rukpak-core', operation: 'Apply', fieldsV1 }];
  const metadata = { ...desired.object.metadata, resourceVersion: `${version}`, managedFields };
  return { ...desired.object, metadata, data };
}

function seen(data: object, own: readonly string[]): void {
  inventory.sink(desired.resource).upsert(live(data, own));
}

function aDeployment(mode?: 'Correct' | 'Warn' | 'Off') {
  const deployment = aStoredDeployment();
  return {
    ...deployment,
    spec: { ...deployment.spec, ...(mode === undefined ? {} : { drift: { mode } }) },
  };
}

function planned(how: Partial<PlannedObject> = {}): PlannedObject {
  return { desired, live: undefined, repair: false, ...how };
}

function noted(mode: 'Correct' | 'Warn' | 'Off') {
  const run = { owner: aDeployment(mode), state };
  return noteDrift(run, { inventory, drift }, [planned({ repair: true })]);
}

describe('what is drift', () => {
  const repair = planned({ repair: true });
  const unrecorded = planned({ unrecorded: true });
  const changed = planned();

  test.each([undefined, 'Correct'] as const)('is corrected in mode %s', (mode) => {
    const all = [repair, unrecorded, changed];
    expect(splitPlan(aDeployment(mode), all, true)).toEqual({ pending: all, drifted: [] });
  });

  test.each(['Warn', 'Off'] as const)(
    'is not in mode %s; what the bundle changes is applied',
    (mode) => {
      const split = splitPlan(aDeployment(mode), [repair, unrecorded, changed], true);
      expect(split).toEqual({ pending: [changed], drifted: [repair, unrecorded] });
    },
  );

  test('is not what nobody knows, where the content is new', () => {
    const split = splitPlan(aDeployment('Warn'), [repair, unrecorded], false);
    expect(split).toEqual({ pending: [unrecorded], drifted: [repair] });
  });
});

describe('a Deployment whose certificate was replaced just before core ended', () => {
  const hash = 'core.rukpak.io/certificate-hash';
  const template = (value: string) => ({ metadata: { annotations: { [hash]: value } } });
  const ours = { 'f:template': { 'f:metadata': { 'f:annotations': { [`f:${hash}`]: {} } } } };
  const web = aDesiredObject({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'n' },
    spec: { replicas: 1, template: template('new') },
  });

  /** Applied and accepted objects of a plan, in a process that has not applied them. */
  function split(spec: object, owned: object = ours) {
    const fieldsV1 = { 'f:spec': owned };
    const managedFields = [{ manager: 'rukpak-core', operation: 'Apply', fieldsV1 }];
    const found = { ...web.object, metadata: { ...web.object.metadata, managedFields }, spec };
    const object = { desired: web, live: found, repair: false, unrecorded: true };
    const { pending, drifted } = splitPlan(aDeployment('Warn'), [object], true);
    return { pending: pending.length, drifted: drifted.length };
  }

  test('restarts its pods, because only core can have changed the hash', () => {
    expect(split({ replicas: 1, template: template('old') })).toEqual({ pending: 1, drifted: 0 });
  });

  test('is drift when others changed the hash or another field', () => {
    const drifted = { pending: 0, drifted: 1 };
    expect(split({ replicas: 1, template: template('theirs') }, {})).toEqual(drifted);
    expect(split({ replicas: 3, template: template('old') })).toEqual(drifted);
    expect(split({ replicas: 1, template: {} }, {})).toEqual(drifted);
  });
});

describe('mode Warn', () => {
  test('reports differing fields once', () => {
    seen({ a: '1', b: 'theirs' }, ['a']);
    expect(woken).toBe(1);
    const told = [{ object: 'ConfigMap/n/c', missing: false, fields: ['data.b'] }];
    expect(noted('Warn')).toEqual(told);
    seen({ a: '1', b: 'theirs' }, ['a']);
    expect(woken).toBe(1);
    expect(noted('Warn')).toEqual(told);
  });

  test('reports a changed difference, and its end', () => {
    seen({ a: '1', b: 'theirs' }, ['a']);
    noted('Warn');
    seen({ a: '1', b: 'other' }, ['a']);
    expect(woken).toBe(2);
    noted('Warn');
    // Another manager restored the value, and owns the field now.
    seen({ a: '1', b: '2' }, ['a']);
    expect(woken).toBe(3);
    expect(noted('Warn')).toBeUndefined();
    seen({ a: '1', b: '2', c: 'more' }, ['a']);
    expect(woken).toBe(3);
  });

  test.each([
    ['that others have removed', { 'f:spec': { 'f:b': {} } }, ['spec.a', 'spec.c.d']],
    [
      'unless the API server omits them',
      { 'f:spec': { 'f:a': {}, 'f:b': {}, 'f:c': { 'f:d': {} } } },
      undefined,
    ],
  ])('reports fields with an empty value %s', (_, fieldsV1, fields) => {
    const widget = aDesiredObject({
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'w', namespace: 'n' },
      spec: { a: false, b: 1, c: { d: 0 } },
    });
    const managedFields = [{ manager: 'rukpak-core', operation: 'Apply', fieldsV1 }];
    const metadata = { ...widget.object.metadata, resourceVersion: '1', managedFields };
    inventory.put(widget.resource, { ...widget.object, metadata, spec: { b: 1, c: {} } });
    const drifted = [{ ...planned({ repair: true }), desired: widget }];
    const told = noteDrift({ owner: aDeployment('Warn'), state }, { inventory, drift }, drifted);
    expect(told?.[0]?.fields).toEqual(fields);
  });

  test('reports missing objects', () => {
    inventory.sink(desired.resource).remove(live({}, []));
    expect(noted('Warn')).toEqual([{ object: 'ConfigMap/n/c', missing: true, fields: [] }]);
    expect(woken).toBe(1);
  });

  test('is forgotten with a change to mode Correct', () => {
    seen({ a: '1', b: 'theirs' }, ['a']);
    noted('Warn');
    noteDrift({ owner: aDeployment('Correct'), state }, { inventory, drift }, []);
    seen({ a: '1', b: 'theirs' }, ['a']);
    expect(woken).toBe(2);
  });
});

test('what drifted stays claimed, also where this process has applied nothing', () => {
  seen({ a: '1', b: 'theirs' }, ['a']);
  noted('Warn');
  expect(owners.of('other').otherHolder(desired.id)).toBe('demo');
  state.releaseAll();
  inventory.sink(desired.resource).remove(live({}, []));
  noted('Warn');
  expect(owners.of('other').otherHolder(desired.id)).toBeUndefined();
});

test('mode Off tells nothing, whatever others write', () => {
  seen({ a: '1', b: 'theirs' }, ['a']);
  expect(noted('Off')).toBeUndefined();
  seen({ a: '1', b: 'other' }, ['a']);
  seen({ a: '1', b: '2' }, ['a']);
  expect(woken).toBe(1);
});
