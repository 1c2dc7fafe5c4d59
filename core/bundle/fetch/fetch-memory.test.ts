import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { aKeptBundle, BundleFixture } from '../../../test/helpers/bundle-fixture.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { anImage } from '../../../test/helpers/objects.ts';
import { aTree } from '../../../test/helpers/registry-bundle.ts';
import type { Source } from '../../contracts/source.ts';
import { ByteBudget } from '../../platform/runtime/index.ts';

const resolvedSource = anImage(`example.com/app@sha256:${'12'.repeat(32)}`);
const content = { files: aTree({ 'a.yaml': 'x'.repeat(20) }), resolvedSource };

let clock: ManualClock;
let memory: ByteBudget;

beforeEach(() => {
  clock = new ManualClock();
  memory = new ByteBudget({ bytes: 100, unwaited: 0, clock });
});

function aFixture(fetch: Source['fetch']): BundleFixture {
  const fixture = new BundleFixture(aKeptBundle(), { memory });
  fixture.fetch.mockImplementation(fetch);
  return fixture;
}

/** A source of a server that sends so many bytes, and then nothing. */
function stallingAfter(bytes: number): Source['fetch'] {
  return async (_, { memory, signal }) => {
    await memory?.take(bytes);
    return await new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });
  };
}

test('content counts as fetched and as converted, until it is stored', async () => {
  const fixture = aFixture(async (_, { memory }) => {
    await memory?.take(20);
    return content;
  });
  const counted: number[] = [];
  fixture.handler.mockImplementation(async (files) => {
    counted.push(memory.taken);
    return files;
  });
  await fixture.reconcile();
  expect(counted).toEqual([40]);
  expect(memory.taken).toBe(0);
  expect(fixture.live.status?.phase).toBe('Unpacked');
});

test('a fetch that fails gives its memory back', async () => {
  const fixture = aFixture(async (_, { memory }) => {
    await memory?.take(20);
    throw new Error('gone');
  });
  await expect(fixture.reconcile()).rejects.toThrow('gone');
  expect(memory.taken).toBe(0);
});

test('a fetch that its server keeps waiting is ended for another one, and its Bundle waits', async () => {
  const stalled = aFixture(stallingAfter(45));
  const ended = stalled.reconcile().catch((error: unknown) => error);
  await eventually(() => expect(memory.taken).toBe(90));
  const good = aFixture(async (_, { memory }) => {
    await memory?.take(20);
    return content;
  });
  let isUnpacked = false;
  const unpacked = good.reconcile().then(() => (isUnpacked = true));
  await eventually(async () => {
    await setImmediate();
    clock.advance(1_000);
    expect(isUnpacked).toBe(true);
  });
  await Promise.all([ended, unpacked]);
  expect(good.live.status?.phase).toBe('Unpacked');
  expect(stalled.live.status?.phase).toBe('Pending');
  expect(stalled.live.status?.conditions?.[0]?.message).toMatch(/^waiting for memory: all 0 MiB/);
  expect(memory.taken).toBe(0);
});

test('content that could never be held is refused for good', async () => {
  const fixture = aFixture(stallingAfter(51));
  await fixture.reconcile();
  expect(fixture.live.status?.phase).toBe('Failing');
  expect(fixture.live.status?.conditions?.[0]?.message).toMatch(
    /\(--memory-budget\): make it smaller/,
  );
});
