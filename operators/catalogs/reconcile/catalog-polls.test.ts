import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  aCatalog,
  packageBlobs,
  ReconcilerFixture,
  shopTag as tag,
} from '../../../test/helpers/catalog-reconciler-fixture.ts';
import { catalogAdapter } from '../kinds/catalog.ts';

const minute = 60_000;
let replica: ReconcilerFixture;

beforeEach(async () => {
  replica = await ReconcilerFixture.start(catalogAdapter);
});
afterEach(() => replica.stop());

describe('polls', () => {
  test('without a change cost one request and the time of the poll', async () => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog({ pollInterval: '10m' }));
    const next = (await replica.reconcile()) ?? 0;
    expect(next).toBeGreaterThanOrEqual(10 * minute);
    expect(next).toBeLessThanOrEqual(10.1 * minute);
    const { status: before } = replica;
    const writes = replica.client.patches.length;
    replica.clock.advance(next + 1);
    await replica.reconcile();
    expect([replica.resolved.length, replica.fetched.length]).toEqual([2, 1]);
    expect(replica.client.patches).toHaveLength(writes + 1);
    const polledAt = new Date(replica.clock.now()).toISOString().replace(/\.\d+Z/, 'Z');
    const text = JSON.stringify(before).replace(/("lastPollAttempt":")[^"]*/, `$1${polledAt}`);
    expect(replica.status).toEqual(JSON.parse(text));
    expect(replica.changes.flatMap(({ packages }) => [...packages])).toEqual(['a']);
  });

  test('go on after a restart when they would have been', async () => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog({ pollInterval: '1h30m' }));
    await replica.reconcile();
    replica.clock.advance(80 * minute);
    replica = await replica.restarted(catalogAdapter);
    const next = (await replica.reconcile()) ?? 0;
    expect(next).toBeGreaterThan(9 * minute);
    expect(next).toBeLessThan(11 * minute);
    expect(replica.resolved).toEqual([]);
    expect(replica.served.serving()).toHaveLength(1);
    replica.clock.advance(next + 1);
    await replica.reconcile();
    expect(replica.resolved).toEqual([tag]);
  });

  test('are due when the status says that the last one is in the future', async () => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog({ pollInterval: '10m' }));
    await replica.reconcile();
    const text = JSON.stringify(replica.object);
    const forged = text.replace(/("lastPollAttempt":")[^"]*/, '$12100-01-01T00:00:00Z');
    replica.put(JSON.parse(forged));
    replica.push(tag, packageBlobs('b'));
    await replica.reconcile();
    expect(replica.resolved).toEqual([tag, tag]);
    expect(replica.served.serving()).toHaveLength(1);
    expect(JSON.stringify(replica.status)).not.toContain('2100-');
  });

  test.each(['0s', '0', '0h0m', '-5m'])('are off with the interval %s', async (pollInterval) => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog({ pollInterval }));
    expect(await replica.reconcile()).toBeUndefined();
    replica.clock.advance(1000 * minute);
    expect(await replica.reconcile()).toBeUndefined();
    expect(replica.resolved).toHaveLength(1);
  });

  test.each([
    ['1.5h', 90 * minute],
    ['1h30m', 90 * minute],
    ['90000000us', 1.5 * minute],
    ['.5h', 30 * minute],
    ['1ns', 1000],
  ])('read the interval %s as Go does', async (pollInterval, ms) => {
    replica.push(tag, packageBlobs('a'));
    replica.put(aCatalog({ pollInterval }));
    const next = (await replica.reconcile()) ?? 0;
    expect(next / ms).toBeCloseTo(1, 1);
  });

  test.each(['1d', '', '5', 'soon', '1h '.repeat(400_000)])(
    'fail with an odd interval',
    async (pollInterval) => {
      replica.push(tag, packageBlobs('a'));
      replica.put(aCatalog());
      await replica.reconcile();
      replica.put(replica.changed({ pollInterval }, 2));
      expect(await replica.reconcile()).toBeUndefined();
      expect(replica.conditions[0]).toMatch(
        /^Unpacked=False UnpackFailed: source bundle content: spec\.source\.image\.pollInterval "/,
      );
      expect(replica.served.serving()).toHaveLength(1);
    },
  );
});

test('new content is not resolved from if the spec has changed, which a silent watch does not show', async () => {
  replica.put(aCatalog({ pollInterval: '10m' }));
  const older = replica.push(tag, packageBlobs('a'));
  await replica.reconcile();
  const refs = () => replica.served.serving().map(({ resolvedRef }) => resolvedRef);
  expect(refs()).toEqual([older]);
  replica.push(tag, packageBlobs('a', '2.0.0'));
  replica.clock.advance(20 * minute);
  replica.client.put(replica.changed({ ref: older }, 2));
  await replica.reconcile();
  expect(refs()).toEqual([older]);
  await replica.reconcile();
  expect([refs(), replica.status]).toMatchObject([[older], { observedGeneration: 2 }]);
});
