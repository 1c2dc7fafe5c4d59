import { expect, test } from 'vitest';
import { EventList } from '../../../test/helpers/event-list.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aResource } from '../../../test/helpers/owned-entry.ts';
import { aStoredDeployment } from '../../../test/helpers/stored-objects.ts';
import { OwnerStates } from '../state/owner-states.ts';
import { OptionalKinds } from './optional-kinds.ts';

const monitor = { group: 'monitoring.coreos.com', kind: 'ServiceMonitor' };

function setUp() {
  const [clock, events, stop] = [new ManualClock(), new EventList(), new AbortController()];
  const owners = new OwnerStates(clock);
  const woken: string[] = [];
  const cluster = { serves: false, looks: 0 };
  const kinds = new OptionalKinds({
    discovery: {
      invalidate: () => {
        cluster.looks += 1;
      },
      resourceForGroupKind: async () =>
        cluster.serves ? aResource('ServiceMonitor.monitoring.coreos.com') : undefined,
    },
    events,
    owners,
    clock,
    notify: (owner) => void woken.push(owner),
    signal: stop.signal,
  });
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { kinds, owners, events, woken, cluster, pass };
}

test('one look a minute serves all owners, and wakes them once their kind is there', async () => {
  const { kinds, woken, cluster, pass } = setUp();
  kinds.await(aStoredDeployment({ name: 'one' }), [monitor]);
  kinds.await(aStoredDeployment({ name: 'two' }), [monitor]);
  await pass(60_000);
  expect([cluster.looks, woken]).toEqual([1, []]);
  cluster.serves = true;
  await pass(60_000);
  expect([cluster.looks, woken]).toEqual([2, ['one', 'two']]);
});

test('what nobody awaits any more is not looked for', async () => {
  const { kinds, owners, woken, cluster, pass } = setUp();
  kinds.await(aStoredDeployment({ name: 'one' }), [monitor]);
  kinds.await(aStoredDeployment({ name: 'two' }), [monitor]);
  kinds.await(aStoredDeployment({ name: 'one' }), []);
  owners.forget('two');
  await pass(60_000);
  await pass(60_000);
  expect([cluster.looks, woken]).toEqual([0, []]);
});

test('a kind is told once', () => {
  const { kinds, events } = setUp();
  const owner = aStoredDeployment();
  kinds.await(owner, [monitor]);
  kinds.await(owner, [monitor]);
  expect(events.taken()).toEqual([
    'Normal OptionalKindNotServed: The cluster does not serve ServiceMonitor.monitoring.coreos.com: until it does, core applies the bundle without these optional objects',
  ]);
});
