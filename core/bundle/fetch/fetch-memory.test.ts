import { setImmediate } from 'node:timers/promises';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { aKeptBundle, BundleFixture } from '../../../test/helpers/bundle-fixture.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { FakeRegistry } from '../../../test/helpers/fake-registry.ts';
import { layerArchive } from '../../../test/helpers/layer-archive.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { anImage } from '../../../test/helpers/objects.ts';
import { aTree } from '../../../test/helpers/registry-bundle.ts';
import type { ProvisionerContext } from '../../contracts/provisioner.ts';
import type { Source } from '../../contracts/source.ts';
import { systemClock } from '../../platform/clock.ts';
import { ByteBudget, type InTurn } from '../../platform/runtime/index.ts';
import { createImageSource } from '../../sources/index.ts';

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

test('a larger result of the class counts as it arrives, until it is stored', async () => {
  const fixture = aFixture(async (_, { memory }) => {
    await memory?.take(20);
    return content;
  });
  const counted: number[] = [];
  fixture.handler.mockImplementation(async (_, __, { turn }: InTurn<ProvisionerContext>) => {
    for (const bytes of [15, 35, 70]) {
      turn?.received?.(bytes);
      counted.push(memory.taken);
    }
    return aTree({ 'b.yaml': 'y'.repeat(80) });
  });
  fixture.store.put = async () => void counted.push(memory.taken);
  await fixture.reconcile();
  expect(counted).toEqual([40, 55, 90, 100]);
  expect(memory.taken).toBe(0);
  expect(fixture.live.status?.phase).toBe('Unpacked');
});

test('a fetch is ended for the result of a class that exceeds the memory', async () => {
  const stalled = aFixture(stallingAfter(25));
  const ended = stalled.reconcile();
  await eventually(() => expect(memory.taken).toBe(50));
  const good = aFixture(async () => content);
  good.handler.mockImplementation(async () => aTree({ 'b.yaml': 'y'.repeat(50) }));
  await good.reconcile();
  await expect(ended).rejects.toThrow('waiting for memory');
  expect(good.live.status?.phase).toBe('Unpacked');
  expect(memory.taken).toBe(0);
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

describe('one download for Bundles of an image by its tag and by its digest', () => {
  /** Two of such Bundles; the registry sends all but the end of the layer until `finish`. */
  async function aStalledDownload() {
    const registry = await FakeRegistry.start();
    onTestFinished(() => registry.stop());
    const layer = {
      files: { 'a.yaml': 'x'.repeat(300_000), 'b.yaml': 'x'.repeat(300_000) },
      compression: 'none',
    } as const;
    const { digest } = await registry.addImage('v1', [layer]);
    const { bytes } = await layerArchive(layer);
    const finish = Promise.withResolvers<void>();
    registry.intercept = async ({ url = '' }, response) => {
      if (!url.includes('/blobs/')) return false;
      response.writeHead(200, { 'content-length': bytes.byteLength });
      response.write(bytes.subarray(0, 400_000));
      await finish.promise;
      response.end(bytes.subarray(400_000));
      return true;
    };
    let verified = 0;
    const source = createImageSource({
      insecureRegistries: [registry.host],
      verifier: { verify: async () => void (verified += 1) },
      clock: systemClock,
    });
    memory = new ByteBudget({ bytes: 2_000_000, unwaited: 0, clock });
    const bundles = [`:v1`, `@${digest}`].map((version) => {
      const image = { type: 'image', image: { ref: `${registry.host}/app${version}` } };
      const fixture = new BundleFixture(aKeptBundle({ source: image }), { memory });
      fixture.fetch.mockImplementation(async (...fetched) => await source.fetch(...fetched));
      return fixture;
    });
    const [payer, other] = bundles as [BundleFixture, BundleFixture];
    const payerEnds = payer.reconcile().catch((error: unknown) => error);
    await eventually(() => expect(memory.taken).toBe(2 * (300_000 + 256 * 1024)));
    const otherEnds = other.reconcile().catch((error: unknown) => error);
    await eventually(() => expect(verified).toBe(2));
    // From the verified image to its download is no more than that.
    await setImmediate();
    return { registry, payer, payerEnds, other, otherEnds, finish: () => finish.resolve() };
  }

  test('counts, and succeeds for the other one, when the Bundle that began it is deleted', async () => {
    const { registry, payer, payerEnds, other, otherEnds, finish } = await aStalledDownload();
    const taken = memory.taken;
    payer.abandon();
    await payerEnds;
    expect(memory.taken).toBe(taken);
    finish();
    await otherEnds;
    expect(other.status.conditions?.[0]?.message).toMatch(/^Successfully unpacked/);
    expect(memory.taken).toBe(0);
    const blobs = registry.requests.filter(({ path }) => path.includes('/blobs/'));
    expect(blobs).toHaveLength(1);
  });

  test('ends for both where its memory is needed, and both wait', async () => {
    const { payer, payerEnds, other, otherEnds } = await aStalledDownload();
    const good = aFixture(async (_, { memory }) => {
      await memory?.take(900_000);
      return content;
    });
    const unpacked = good.reconcile();
    await eventually(async () => {
      await setImmediate();
      clock.advance(1_000);
      expect(good.live.status?.phase).toBe('Unpacked');
    });
    await Promise.all([unpacked, payerEnds, otherEnds]);
    for (const { live } of [payer, other]) {
      expect(live.status?.phase).toBe('Pending');
      expect(live.status?.conditions?.[0]?.message).toMatch(/^waiting for memory: all 1 MiB/);
    }
    expect(memory.taken).toBe(0);
  });
});
