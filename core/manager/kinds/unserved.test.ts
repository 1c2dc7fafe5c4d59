import { beforeEach, describe, expect, test } from 'vitest';
import type { Condition } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/index.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { conditionLines } from '../../../test/helpers/summary-conditions.ts';
import { UnservedObjects } from './unserved.ts';

const { signal } = new AbortController();
let client: FakeKubeClient;
let events: EventList;
let clock: ManualClock;

beforeEach(() => {
  client = new FakeKubeClient();
  events = new EventList();
  clock = new ManualClock();
});

function aDeployment(
  provisionerClassName: string,
  status?: BundleDeployment['status'],
): BundleDeployment {
  const creationTimestamp = new Date(clock.now()).toISOString();
  const stored = aStoredDeployment({ metadata: { creationTimestamp }, ...(status && { status }) });
  return client.put({
    ...stored,
    spec: { ...stored.spec, provisionerClassName },
  }) as BundleDeployment;
}

function live(): BundleDeployment {
  return client.peek({ name: 'demo' }) as BundleDeployment;
}

function unserved(): UnservedObjects {
  const classes = new Map([
    ['core-rukpak-io-plain', {}],
    ['core-rukpak-io-helm', {}],
  ]);
  const resource = bundleDeploymentResource;
  return new UnservedObjects({ client, resource, classes, events, clock });
}

async function tell(object: BundleDeployment | undefined = live()) {
  return await unserved().tell(object, signal);
}

test('a class that nobody serves is named after half a minute, with the one that is meant', async () => {
  aDeployment('core-rukpak-io-plian');
  expect(await tell()).toEqual({ requeueAfter: 30_000 });
  expect(client.calls).toEqual([]);
  clock.advance(30_000);
  expect(await tell()).toEqual({});
  const message =
    'no manager reconciles this BundleDeployment: either class "core-rukpak-io-plian" is misspelt (did you mean "core-rukpak-io-plain"?), ' +
    'or no manager that serves it is running. The running core serves core-rukpak-io-helm, core-rukpak-io-plain';
  expect(conditionLines(live().status?.conditions)).toEqual([
    `Ready Unknown ClassNotServed: ${message}`,
  ]);
  expect(events.taken()).toEqual([`Warning ClassNotServed: ${message}`]);
  expect(live().status?.observedGeneration).toBeUndefined();
  await tell();
  expect(client.calls).toEqual(['patch']);
});

test('what is served here, or gone, is left to its reconciler', async () => {
  expect(await tell(undefined)).toBeUndefined();
  expect(await tell(aDeployment('core-rukpak-io-plain'))).toBeUndefined();
});

test('what another manager looks at is its own; what was said before is taken back', async () => {
  aDeployment('acme');
  clock.advance(30_000);
  await tell();
  events.taken();
  client.put({ ...live(), status: { ...live().status, observedGeneration: 1 } });
  await tell();
  await tell();
  expect(live().status).toEqual({ observedGeneration: 1, conditions: [] });
  expect(client.calls).toEqual(['patch', 'patch']);
  expect(events.taken()).toEqual([]);
});

describe('a class that is changed to one that nobody serves', () => {
  const generation = 2;
  const observed = { observedGeneration: 1, conditions: [ready(1)] };
  let deletions: UnservedObjects;

  beforeEach(() => {
    deletions = unserved();
    const deployment = aDeployment('core-rukpak-io-plian', observed);
    clock.advance(3_600_000);
    client.put({ ...deployment, metadata: { ...deployment.metadata, generation } });
  });

  test('is named after a minute, although a manager has looked at what was before', async () => {
    expect(await deletions.tell(live(), signal)).toEqual({ requeueAfter: 60_000 });
    clock.advance(59_000);
    expect(await deletions.tell(live(), signal)).toEqual({ requeueAfter: 1_000 });
    expect(client.calls).toEqual([]);
    clock.advance(1_000);
    expect(await deletions.tell(live(), signal)).toEqual({});
    expect(conditionLines(live().status?.conditions)).toEqual([
      expect.stringContaining(
        'Ready Unknown ClassNotServed: no manager reconciles this BundleDeployment: either class "core-rukpak-io-plian" is misspelt',
      ),
    ]);
    expect(live().status?.observedGeneration).toBe(1);
    expect(await deletions.tell(live(), signal)).toEqual({});
    expect(client.calls).toEqual(['patch']);
  });

  test('is not, where its manager says that it is at work', async () => {
    client.put({ ...live(), status: { ...observed, conditions: [ready(generation)] } });
    expect(await deletions.tell(live(), signal)).toEqual({});
    clock.advance(60_000);
    expect(await deletions.tell(live(), signal)).toEqual({});
    expect(client.calls).toEqual([]);
  });

  test('is counted anew with each change', async () => {
    await deletions.tell(live(), signal);
    clock.advance(59_000);
    client.put({ ...live(), metadata: { ...live().metadata, generation: generation + 1 } });
    expect(await deletions.tell(live(), signal)).toEqual({ requeueAfter: 60_000 });
  });
});

function ready(observedGeneration: number): Condition {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const about = { status: 'True', reason: 'Healthy', message: 'it is healthy' } as const;
  return { type: 'Ready', ...about, lastTransitionTime, observedGeneration };
}

test('a deletion is for the reconciler to see to', async () => {
  const deployment = aDeployment('acme');
  const deletionTimestamp = new Date(clock.now()).toISOString();
  const deleted = { ...deployment, metadata: { ...deployment.metadata, deletionTimestamp } };
  clock.advance(60_000);
  expect(await tell(deleted)).toBeUndefined();
  expect(client.calls).toEqual([]);
});

test('a deletion is this process’s to end after half a minute; a namesake has the whole time again', () => {
  const deletions = unserved();
  expect(deletions.remaining(aStoredDeployment())).toBe(30_000);
  clock.advance(30_000);
  expect(deletions.remaining(aStoredDeployment())).toBe(0);
  const namesake = aStoredDeployment({ metadata: { name: 'demo', uid: 'new' } });
  expect(deletions.remaining(namesake)).toBe(30_000);
});
