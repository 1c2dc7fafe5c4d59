import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { aKeptBundle, BundleFixture, pinned, tree } from '../../test/helpers/bundle-fixture.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { defaultLimits } from '../content/index.ts';
import type { SourceResult } from '../contracts/source.ts';
import { WaitingError } from '../errors.ts';
import { ArchiveSpace, DiskStore } from '../store/index.ts';
import { UnpackSlots } from './index.ts';

function measured() {
  const told: string[] = [];
  const unpackMetrics = {
    ended: (source: string, outcome: string, seconds: number) =>
      void told.push(`${source} ${outcome} after ${seconds}`),
    phaseEnded: (source: string, phase: string, seconds: number) =>
      void told.push(`${source} ${phase} took ${seconds}`),
    fetched: (source: string, bytes: number) => void told.push(`${source} brought ${bytes}`),
  };
  return { told, fixture: new BundleFixture(aKeptBundle(), { unpackMetrics }) };
}

test('each phase of an unpacking, its bytes, and all together', async () => {
  const { told, fixture } = measured();
  fixture.fetch.mockImplementation(async () => {
    fixture.clock.advance(1_500);
    return { files: tree, resolvedSource: pinned };
  });
  await fixture.reconcile();
  expect(told).toEqual([
    'image fetch took 1.5',
    'image brought 15',
    'image convert took 0',
    'image persist took 0',
    'image unpacked after 1.5',
  ]);
});

test.each([
  [new WaitingError('later'), 'waiting'],
  [new Error('no'), 'failed'],
])('an unpacking that ends with %s is %s', async (error, outcome) => {
  const { told, fixture } = measured();
  fixture.fetch.mockRejectedValue(error);
  await fixture.failure();
  expect(told).toEqual(['image fetch took 0', 'image brought 0', `image ${outcome} after 0`]);
});

test('one that was aborted says nothing about its source', async () => {
  const { told, fixture } = measured();
  fixture.fetch.mockImplementation(async () => {
    fixture.stop.abort(new Error('the process stops'));
    throw new Error('aborted');
  });
  await fixture.failure();
  expect(told.filter((line) => line.includes(' after '))).toEqual([]);
});

test('a Bundle does not wait in the line of another creator for content that both need', async () => {
  const slots = new UnpackSlots({ slots: 4, clock: new ManualClock() });
  const { signal } = new AbortController();
  const share = ['one', 'two', 'three'].map((address) =>
    slots.take({ creator: 'a', address }, signal),
  );
  const taken = await Promise.all(share);
  const creatorOf = ({ metadata }: Bundle): string => metadata.labels?.['creator'] ?? '';
  const of = (creator: string, name: string): Bundle =>
    aKeptBundle({ name, metadata: { labels: { creator }, uid: name, name } });
  const fixture = new BundleFixture(of('a', 'waits'), { slots, creatorOf });
  const waiting = fixture.reconcile('waits');
  await setImmediate();
  expect(fixture.fetch).not.toHaveBeenCalled();
  fixture.change(of('b', 'demo'));
  await fixture.reconcile('demo');
  expect(fixture.live.status?.phase).toBe('Unpacked');
  for (const slot of taken) slot.release();
  await waiting;
});

test('who holds a place gets the content before the one that fetched it needs a place again', async () => {
  const clock = new ManualClock();
  const slots = new UnpackSlots({ slots: 4, clock });
  const { signal } = new AbortController();
  const fixture = new BundleFixture(aKeptBundle(), { slots });
  fixture.change(aKeptBundle({ name: 'other' }));
  const fetched = Promise.withResolvers<SourceResult>();
  fixture.fetch.mockReturnValueOnce(fetched.promise);
  const first = fixture.reconcile();
  await eventually(() => expect(fixture.fetch).toHaveBeenCalled());
  // A slow fetch lends its place.
  clock.advance(2_000);
  const elsewhere = ['one', 'two', 'three'].map((name) =>
    slots.take({ creator: name, address: name }, signal),
  );
  await Promise.all(elsewhere);
  const second = fixture.reconcile('other');
  await setImmediate();
  fetched.resolve({ files: tree, resolvedSource: pinned });
  await Promise.all([first, second]);
  expect(fixture.fetch).toHaveBeenCalledTimes(1);
  expect(fixture.phases).toEqual(['Unpacked', 'Unpacked']);
});

test('content without room is not fetched again until there is room', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'unpack-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const space = new ArchiveSpace({
    maxBytes: 4_000,
    clock: new ManualClock(),
    creatorOf: (bundle) => bundle,
    isStored: () => false,
  });
  const store = new DiskStore({ directory, externalAddress: '', limits: defaultLimits, space });
  const [other, big] = [1, 2].map(() => aTree({ a: randomBytes(2_000).toString('hex') }));
  await store.put({ name: 'other', uid: 'other' }, other!);
  const fixture = new BundleFixture(aKeptBundle(), { store });
  fixture.fetch.mockResolvedValue({ files: big!, resolvedSource: pinned });
  for (const _ of [1, 2, 3]) {
    expect(await fixture.failure()).toBeInstanceOf(WaitingError);
    expect(fixture.status.phase).toBe('Pending');
    expect(fixture.status.conditions?.[0]?.message).toContain('and this one needs 1 MiB');
  }
  expect(fixture.fetch).toHaveBeenCalledTimes(1);
  await store.delete({ name: 'other', uid: 'other' });
  await fixture.reconcile();
  expect(fixture.live.status?.phase).toBe('Unpacked');
  expect(fixture.fetch).toHaveBeenCalledTimes(2);
});

test('sources and classes log with the logger of the reconcile', async () => {
  const { fixture } = measured();
  await fixture.reconcile();
  expect(fixture.fetch.mock.calls[0]?.[1].logger).toBe(fixture.logger);
  expect(fixture.handler.mock.calls[0]?.[2].logger).toBe(fixture.logger);
});

test('a class that returns nothing has nothing stored', async () => {
  const fixture = new BundleFixture(aKeptBundle());
  fixture.handler.mockResolvedValue(undefined as never);
  await expect(fixture.reconcile()).rejects.toThrow(
    'class "plain", bundle(): the handler returned no files',
  );
  expect(fixture.live.status?.phase).toBe('Failing');
  const { name = '', uid = '' } = fixture.live.metadata;
  expect(await fixture.store.has({ name, uid })).toBe(false);
});
