import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { annotation, finalizer } from '../../api/v1alpha1/labels.ts';
import { aKeptBundle, BundleFixture, pinned, tree } from '../../test/helpers/bundle-fixture.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { anImage } from '../../test/helpers/objects.ts';
import { onlySource } from '../../test/helpers/source-types.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import type { SourceResult } from '../contracts/source.ts';
import type { UploadStore } from '../contracts/upload-store.ts';
import { WaitingError } from '../errors.ts';
import { ApiError } from '../platform/kube/index.ts';
import { FairSemaphore } from '../platform/runtime/index.ts';
import type { BundleDependencies } from './dependencies.ts';
import { SharedFetches } from './fetch/shared-fetches.ts';
import { UnpackSlots } from './fetch/unpack-slots.ts';

const elsewhere = { creator: 'another', address: 'elsewhere.example' };
const key = { name: 'demo', uid: 'uid-of-demo' };
const deletionTimestamp = '2026-01-01T00:00:00Z';
const conflict = new ApiError(409, { reason: 'Conflict', message: 'the object has been modified' });

function failing(phase: BundleStatus['phase'] = 'Failing'): BundleStatus {
  return {
    observedGeneration: 1,
    ...(phase === undefined ? {} : { phase }),
    conditions: [
      {
        type: 'Unpacked',
        status: 'False',
        reason: 'UnpackFailed',
        message: 'source bundle content: connection reset',
        lastTransitionTime: '2025-12-31T00:00:00Z',
      },
    ],
  };
}

describe('the finalizer', () => {
  test('is there before there is anything to remove', async () => {
    const fixture = new BundleFixture(aStoredBundle({ metadata: { finalizers: ['of/another'] } }));
    fixture.fetch.mockImplementation(async () => {
      expect(fixture.live.metadata.finalizers).toContain(finalizer.deleteCachedBundle);
      return { files: tree, resolvedSource: pinned };
    });
    await fixture.reconcile();
    expect(fixture.live.metadata.finalizers).toEqual(['of/another', finalizer.deleteCachedBundle]);
    expect(fixture.live.status?.phase).toBe('Unpacked');
    // The finalizer, the note of what it was unpacked from, the status.
    expect(fixture.client.calls).toEqual(['patch', 'patch', 'patch']);
  });

  test('that cannot be added makes the Bundle Failing, and is tried again', async () => {
    const fixture = new BundleFixture(aStoredBundle());
    fixture.client.faults.patch = [new Error('denied by policy')];
    expect(await fixture.failure()).toEqual(new Error('denied by policy'));
    expect(fixture.status).toMatchObject({
      phase: 'Failing',
      conditions: [
        {
          type: 'Unpacked',
          status: 'Unknown',
          reason: 'ProcessingFinalizerFailed',
          message: 'finalizer "core.rukpak.io/delete-cached-bundle" failed: denied by policy',
        },
      ],
    });
    expect(fixture.fetch).not.toHaveBeenCalled();
    expect(fixture.events.taken()).toEqual([
      'Warning ProcessingFinalizerFailed: finalizer "core.rukpak.io/delete-cached-bundle" failed: denied by policy',
    ]);
    await fixture.reconcile();
    expect(fixture.live.status?.phase).toBe('Unpacked');
  });

  test('that somebody came between is no news', async () => {
    const fixture = new BundleFixture(aStoredBundle({ status: failing() }));
    fixture.client.faults.patch = [conflict];
    expect(await fixture.failure()).toBe(conflict);
    expect(fixture.status).toEqual(failing());
    expect(fixture.client.calls).toEqual(['patch']);
  });
});

describe('a Bundle that is being deleted', () => {
  describe('of a class that this process does not serve', () => {
    const metadata = { deletionTimestamp };
    const ofAnother = aKeptBundle({ className: 'another', metadata });

    test('loses its finalizer where nobody has taken it off for 30 s', async () => {
      const fixture = new BundleFixture(ofAnother, { endsUnserved: true });
      expect(await fixture.reconcile()).toEqual({ requeueAfter: 30_000 });
      fixture.clock.advance(20_000);
      expect(await fixture.reconcile()).toEqual({ requeueAfter: 10_000 });
      expect(fixture.live.metadata.finalizers).toEqual([finalizer.deleteCachedBundle]);
      fixture.clock.advance(10_000);
      await fixture.reconcile();
      expect(fixture.live.metadata.finalizers).toEqual([]);
    });

    test('is left alone by a process for one class, and while it is not deleted', async () => {
      const alone = new BundleFixture(ofAnother);
      expect(await alone.reconcile()).toBeUndefined();
      const living = aKeptBundle({ className: 'another' });
      const fixture = new BundleFixture(living, { endsUnserved: true });
      expect(await fixture.reconcile()).toBeUndefined();
      expect([...alone.client.calls, ...fixture.client.calls]).toEqual([]);
    });
  });

  test('loses its archive, then its finalizer, and is not fetched', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    await fixture.reconcile();
    const status = fixture.live.status ?? {};
    const finalizers = ['of/another', finalizer.deleteCachedBundle];
    fixture.change(aKeptBundle({ status, metadata: { deletionTimestamp, finalizers } }));
    fixture.client.beforeCall = async () => expect(await fixture.store.has(key)).toBe(false);
    await fixture.reconcile();
    expect(fixture.live.metadata.finalizers).toEqual(['of/another']);
    expect(fixture.live.status).toEqual(status);
    expect(fixture.client.calls).toEqual(['patch', 'patch', 'patch']);
    expect(fixture.fetch).toHaveBeenCalledTimes(1);
  });

  test.each([
    [{ type: 'upload', upload: {} }, [key]],
    [anImage('example.com/app:v1'), []],
  ])('loses its upload: %j', async (source, removed) => {
    const remove = vi.fn<UploadStore['delete']>(async () => undefined);
    const bundle = aKeptBundle({ source, metadata: { deletionTimestamp } });
    const fixture = new BundleFixture(bundle, {
      uploads: { delete: remove, digest: async () => undefined },
    });
    fixture.client.beforeCall = () => expect(remove).toHaveBeenCalledTimes(removed.length);
    await fixture.reconcile();
    expect(remove.mock.calls.map(([deleted]) => deleted)).toEqual(removed);
  });

  test('does not wait for what is being fetched for it', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    const fetching = Promise.withResolvers<AbortSignal>();
    fixture.fetch.mockImplementation(async (_source, { signal }) => {
      fetching.resolve(signal);
      return await new Promise(() => undefined);
    });
    const reconciled = fixture.reconcile();
    const signal = await fetching.promise;
    fixture.abandon('another');
    expect(signal.aborted).toBe(false);
    fixture.abandon();
    await expect(reconciled).resolves.toBeUndefined();
    expect(signal.aborted).toBe(true);
    expect(fixture.phases).toEqual([]);
  });

  test('does not wait for its turn to be unpacked', async () => {
    const slots = new UnpackSlots({ slots: 1, clock: new ManualClock() });
    await slots.take(elsewhere, new AbortController().signal);
    const fixture = new BundleFixture(aKeptBundle(), { slots });
    const reconciled = fixture.reconcile();
    await setImmediate();
    fixture.abandon();
    await expect(reconciled).resolves.toBeUndefined();
    fixture.change(aKeptBundle({ metadata: { deletionTimestamp } }));
    await fixture.reconcile();
    expect(fixture.live.metadata.finalizers).toEqual([]);
    expect(fixture.fetch).not.toHaveBeenCalled();
  });

  test('waits for those of its own class alone, where that has places of its own', async () => {
    const bundle = aKeptBundle();
    const slots = new UnpackSlots({ slots: 0, clock: new ManualClock() });
    const fetches = new SharedFetches();
    await fetches.join(JSON.stringify([bundle.spec.source, '']), new AbortController().signal);
    const own = {
      workers: new FairSemaphore({ places: 1 }),
      slots: new UnpackSlots({ slots: 1, clock: new ManualClock() }),
      fetches: new SharedFetches(),
    };
    const ownPlaces = new Map([['plain', own]]);
    const fixture = new BundleFixture(bundle, { slots, fetches, ownPlaces });
    await fixture.reconcile();
    expect(fixture.live.status?.phase).toBe('Unpacked');
  });

  test('keeps the finalizer while the archive cannot be removed', async () => {
    const fixture = new BundleFixture(aKeptBundle({ metadata: { deletionTimestamp } }));
    fixture.store.delete = () => Promise.reject(new Error('read-only file system'));
    expect(await fixture.failure()).toEqual(new Error('read-only file system'));
    expect(fixture.live.metadata.finalizers).toEqual([finalizer.deleteCachedBundle]);
    expect(fixture.status).toMatchObject({
      phase: 'Failing',
      conditions: [
        {
          status: 'Unknown',
          message: 'finalizer "core.rukpak.io/delete-cached-bundle" failed: read-only file system',
        },
      ],
    });
  });

  test('is left to others once the finalizer is off', async () => {
    const metadata = { deletionTimestamp, finalizers: ['of/another'] };
    const fixture = new BundleFixture(aStoredBundle({ metadata }));
    await fixture.reconcile();
    expect(fixture.client.calls).toEqual([]);
    expect(fixture.fetch).not.toHaveBeenCalled();
  });

  test('may be deleted before the reconcile ends', async () => {
    const fixture = new BundleFixture(aKeptBundle({ metadata: { deletionTimestamp } }));
    fixture.client.drop({ name: 'demo' });
    expect(await fixture.failure()).toBeUndefined();
  });
});

describe('content', () => {
  test('is fetched once', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    await fixture.reconcile();
    fixture.change({
      ...fixture.live,
      metadata: { ...fixture.live.metadata, labels: { touched: 'yes' } },
    });
    await fixture.reconcile();
    await fixture.reconcile();
    expect(fixture.fetch).toHaveBeenCalledTimes(1);
    expect(fixture.phases).toEqual(['Unpacked']);
  });

  test('that was lost is fetched from where it was pinned to', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    await fixture.reconcile();
    await fixture.store.delete(key);
    await fixture.reconcile();
    expect(fixture.fetch.mock.calls.map(([source]) => source)).toEqual([
      anImage('example.com/app:v1'),
      pinned,
    ]);
    expect(await fixture.store.has(key)).toBe(true);
    expect(fixture.phases).toEqual(['Unpacked']);
  });

  test('that was kept when the Bundle was deleted is taken back when a backup has the Bundle', async () => {
    const annotations = { [annotation.pin]: `sha256:${'12'.repeat(32)}` };
    const takeBack = vi.fn<BundleDependencies['takeBack']>(async () => true);
    const fixture = new BundleFixture(aKeptBundle({ metadata: { annotations } }), { takeBack });
    await fixture.reconcile();
    expect(takeBack.mock.calls).toEqual([[{ ...key, pin: annotations[annotation.pin] }]]);
    expect(fixture.fetch).not.toHaveBeenCalled();
    expect(fixture.status).toMatchObject({ phase: 'Unpacked', resolvedSource: pinned });
  });

  test('of a predecessor of the same name does not count', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    await fixture.reconcile();
    await fixture.store.put({ name: 'demo', uid: 'of-the-predecessor' }, tree);
    await fixture.reconcile();
    expect(fixture.fetch).toHaveBeenCalledTimes(2);
  });

  test('is offered at the address of today, without any noise', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    await fixture.reconcile();
    fixture.events.taken();
    fixture.store.address = 'https://elsewhere.example';
    await fixture.reconcile();
    expect(fixture.status).toMatchObject({
      phase: 'Unpacked',
      contentURL: 'https://elsewhere.example/bundles/demo.tgz',
    });
    expect(fixture.fetch).toHaveBeenCalledTimes(1);
    expect(fixture.events.taken()).toEqual([]);
  });

  test('stored by a run that could not say so is fetched again', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.client.faults.patch = [new Error('socket hang up')];
    await fixture.failure();
    await fixture.reconcile();
    expect(fixture.fetch).toHaveBeenCalledTimes(2);
    expect(fixture.live.status?.phase).toBe('Unpacked');
  });

  test('a pin outlives failures, and is what is fetched after them', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    await fixture.reconcile();
    await fixture.store.delete(key);
    for (const error of [new Error('connection reset'), new WaitingError('back-off')]) {
      fixture.fetch.mockRejectedValueOnce(error);
      await fixture.failure();
      expect(fixture.live.status?.resolvedSource).toEqual(pinned);
      expect(fixture.live.status?.contentURL).toBeUndefined();
    }
    await fixture.reconcile();
    expect(fixture.fetch.mock.lastCall?.[0]).toEqual(pinned);
    expect(fixture.status).toMatchObject({
      phase: 'Unpacked',
      contentURL: 'https://content.example/bundles/demo.tgz',
    });
  });

  test('a pin that somebody else wrote is no reason to fetch other content', async () => {
    const evil = anImage(`evil.example.com/app@sha256:${'6'.repeat(64)}`);
    const bundle = aKeptBundle({ status: { ...failing(), resolvedSource: evil } });
    const fixture = new BundleFixture(bundle);
    await fixture.reconcile();
    expect(fixture.fetch.mock.lastCall?.[0]).toEqual(bundle.spec.source);
  });

  test('a pin without its pull secret is fetched with that of the spec', async () => {
    const source = { type: 'image', image: { ref: 'example.com/app:v1', pullSecret: 'robot' } };
    const status = { ...failing(), resolvedSource: pinned };
    const fixture = new BundleFixture(aKeptBundle({ source, status }));
    await fixture.reconcile();
    expect(fixture.fetch.mock.calls[0]?.[0]).toEqual({
      type: 'image',
      image: { ...pinned.image, pullSecret: 'robot' },
    });
  });
});

describe('a Bundle that waits for its turn', () => {
  test('gets it when another has ended, whether that went well or not', async () => {
    for (const failure of [undefined, new Error('connection reset')]) {
      const fixture = new BundleFixture(aKeptBundle(), {
        slots: new UnpackSlots({ slots: 1, clock: new ManualClock() }),
      });
      fixture.change(aKeptBundle({ name: 'other', source: anImage('example.com/app:v2') }));
      const fetched = Promise.withResolvers<SourceResult>();
      fixture.fetch.mockReturnValueOnce(fetched.promise);
      const first = fixture.failure();
      const second = fixture.reconcile('other');
      await setImmediate();
      expect(fixture.fetch).toHaveBeenCalledTimes(1);
      if (failure === undefined) fetched.resolve({ files: tree, resolvedSource: pinned });
      else fetched.reject(failure);
      expect(await first).toBe(failure);
      await second;
      expect(fixture.phases).toEqual([failure === undefined ? 'Unpacked' : 'Failing', 'Unpacked']);
    }
  });

  test('ends when the process begins to stop, and nothing is said about it', async () => {
    const slots = new UnpackSlots({ slots: 1, clock: new ManualClock() });
    await slots.take(elsewhere, new AbortController().signal);
    const fixture = new BundleFixture(aKeptBundle(), { slots });
    const reconciled = fixture.failure();
    await setImmediate();
    const reason = new Error('the process stops');
    fixture.stopping.abort(reason);
    expect(await reconciled).toBe(reason);
    expect(fixture.client.calls).toEqual([]);
  });

  test('that is being unpacked when the process begins to stop is unpacked', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.fetch.mockImplementation(async () => {
      fixture.stopping.abort(new Error('the process stops'));
      return { files: tree, resolvedSource: pinned };
    });
    await fixture.reconcile();
    expect(fixture.live.status?.phase).toBe('Unpacked');
  });
});

describe('Bundles of the same source', () => {
  function aPair(): BundleFixture {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.change(aKeptBundle({ name: 'other' }));
    return fixture;
  }

  test('are fetched once when they come together, and each is unpacked', async () => {
    const fixture = aPair();
    const fetched = Promise.withResolvers<SourceResult>();
    fixture.fetch.mockReturnValueOnce(fetched.promise);
    const both = [fixture.reconcile(), fixture.reconcile('other')];
    await setImmediate();
    fetched.resolve({ files: tree, resolvedSource: pinned });
    await Promise.all(both);
    expect(fixture.fetch).toHaveBeenCalledTimes(1);
    expect(fixture.handler).toHaveBeenCalledTimes(2);
    expect(fixture.phases).toEqual(['Unpacked', 'Unpacked']);
  });

  test('fail together', async () => {
    const fixture = aPair();
    const fetched = Promise.withResolvers<SourceResult>();
    fixture.fetch.mockReturnValueOnce(fetched.promise);
    const both = Promise.allSettled([fixture.reconcile(), fixture.reconcile('other')]);
    await setImmediate();
    fetched.reject(new Error('connection reset'));
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(fixture.phases).toEqual(['Failing', 'Failing']);
    expect(fixture.status.conditions).toMatchObject([
      { message: 'source bundle content: connection reset' },
    ]);
  });

  test('do not depend on the one that fetches: the next takes over when it is deleted', async () => {
    const fixture = aPair();
    fixture.fetch.mockImplementationOnce(async (_, { signal }) => {
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
      throw new Error('unreachable');
    });
    const first = fixture.reconcile();
    const second = fixture.reconcile('other');
    await setImmediate();
    fixture.abandon();
    await Promise.all([first, second]);
    expect(fixture.fetch).toHaveBeenCalledTimes(2);
    expect(fixture.phases).toEqual(['Unpacked']);
  });
});

test('an upload that comes while another is unpacked is not said to be unpacked', async () => {
  const source = { type: 'upload', upload: {} };
  const fetch = vi.fn(async () => ({ files: tree, resolvedSource: source }));
  const sources = onlySource('upload', fetch);
  const fixture = new BundleFixture(aKeptBundle({ source }), { sources });
  fetch.mockImplementationOnce(async () => {
    fixture.change(aKeptBundle({ source, status: { phase: 'Pending' } }));
    return { files: tree, resolvedSource: source };
  });
  expect(await fixture.failure()).toMatchObject({ code: 409 });
  expect(fixture.live.status?.phase).toBe('Pending');
  await fixture.reconcile();
  expect(fetch).toHaveBeenCalledTimes(2);
  expect(fixture.live.status?.phase).toBe('Unpacked');
});

describe('an unpacking that takes long', () => {
  const condition = { type: 'Unpacked', status: 'False', reason: 'Unpacking', message: '' };
  const announced = { phase: 'Unpacking', conditions: [condition] };
  const result: SourceResult = { files: tree, resolvedSource: pinned };

  beforeEach(() =>
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }),
  );
  afterEach(() => void vi.useRealTimers());

  function slowly(fixture: BundleFixture): PromiseWithResolvers<SourceResult> {
    const fetched = Promise.withResolvers<SourceResult>();
    fixture.fetch.mockReturnValue(fetched.promise);
    return fetched;
  }

  test('is announced, and then told how it ended', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    const fetched = slowly(fixture);
    const reconciled = fixture.reconcile();
    await vi.advanceTimersByTimeAsync(1_999);
    expect(fixture.phases).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(fixture.status).toMatchObject(announced);
    fetched.resolve(result);
    await reconciled;
    expect(fixture.phases).toEqual(['Unpacking', 'Unpacked']);
    expect(fixture.events.taken()).toEqual([
      'Normal Unpacking: ',
      'Normal UnpackSuccessful: Successfully unpacked the image Bundle',
    ]);
  });

  test('says which class is at work, once that takes long as well', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    const fetched = slowly(fixture);
    const converted = Promise.withResolvers<typeof tree>();
    fixture.handler.mockReturnValue(converted.promise);
    const reconciled = fixture.reconcile();
    await vi.advanceTimersByTimeAsync(2_000);
    fetched.resolve(result);
    await vi.advanceTimersByTimeAsync(9_000);
    expect(fixture.phases).toEqual(['Unpacking']);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(fixture.summary[0]).toBe(
      'Ready False Unpacking: class "plain", bundle() is at work on it',
    );
    await vi.advanceTimersByTimeAsync(30_000);
    converted.resolve(tree);
    await reconciled;
    expect(fixture.phases).toEqual(['Unpacking', 'Unpacking', 'Unpacked']);
  });

  test('is announced only after half a minute where it is others that take long', async () => {
    const slots = new UnpackSlots({ slots: 1, clock: new ManualClock() });
    const fixture = new BundleFixture(aKeptBundle(), { slots });
    const fetched = slowly(fixture);
    const first = fixture.reconcile();
    fixture.change(aKeptBundle({ name: 'other', source: anImage('example.com/app:v2') }));
    const second = fixture.reconcile('other');
    await vi.advanceTimersByTimeAsync(29_999);
    expect(fixture.phases).toEqual(['Unpacking']);
    await vi.advanceTimersByTimeAsync(1);
    expect(fixture.phases).toEqual(['Unpacking', 'Unpacking']);
    fetched.resolve(result);
    await Promise.all([first, second]);
    expect(fixture.phases).toHaveLength(4);
  });

  test('never has its end overwritten by an announcement that is late', async () => {
    for (const succeeds of [true, false]) {
      const fixture = new BundleFixture(aKeptBundle());
      const fetched = slowly(fixture);
      const arrived = Promise.withResolvers<void>();
      fixture.client.beforeCall = () => (fixture.phases.length === 1 ? arrived.promise : undefined);
      const reconciled = fixture.failure();
      await vi.advanceTimersByTimeAsync(2_000);
      expect(fixture.phases).toHaveLength(1);
      if (succeeds) fetched.resolve(result);
      else fetched.reject(new Error('connection reset'));
      await vi.advanceTimersByTimeAsync(1_000);
      expect(fixture.phases).toHaveLength(1);
      arrived.resolve();
      await reconciled;
      expect(fixture.phases).toEqual(['Unpacking', succeeds ? 'Unpacked' : 'Failing']);
      expect(fixture.live.status?.phase).toBe(succeeds ? 'Unpacked' : 'Failing');
    }
  });

  test('is not announced once it has ended', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    await fixture.reconcile();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(fixture.phases).toEqual(['Unpacked']);
    fixture.change(aKeptBundle({ name: 'other' }));
    fixture.fetch.mockRejectedValue(new Error('connection reset'));
    await expect(fixture.reconcile('other')).rejects.toThrow();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(fixture.phases).toEqual(['Unpacked', 'Failing']);
  });

  test('does not fail by an announcement that fails', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    fixture.client.faults.patch = [new Error('socket hang up')];
    const fetched = slowly(fixture);
    const reconciled = fixture.reconcile();
    await vi.advanceTimersByTimeAsync(2_000);
    fetched.resolve(result);
    await reconciled;
    expect(fixture.live.status?.phase).toBe('Unpacked');
  });

  test('is not announced where it failed before: why says more', async () => {
    const fixture = new BundleFixture(aKeptBundle({ status: failing() }));
    const fetched = slowly(fixture);
    const reconciled = fixture.failure();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(fixture.phases).toEqual([]);
    fetched.reject(new Error('connection reset'));
    await reconciled;
    expect(fixture.status).toEqual(failing());
  });

  test('is not announced for content that was offered before', async () => {
    const fixture = new BundleFixture(aKeptBundle());
    await fixture.reconcile();
    await fixture.store.delete(key);
    const fetched = slowly(fixture);
    const reconciled = fixture.reconcile();
    await vi.advanceTimersByTimeAsync(5_000);
    fetched.resolve(result);
    await reconciled;
    expect(fixture.phases).toEqual(['Unpacked']);
  });

  test('is not what a slow deletion is', async () => {
    const metadata = { deletionTimestamp };
    const fixture = new BundleFixture(aKeptBundle({ metadata, status: failing() }));
    const deleted = Promise.withResolvers<void>();
    fixture.store.delete = () => deleted.promise;
    const reconciled = fixture.reconcile();
    await vi.advanceTimersByTimeAsync(5_000);
    deleted.resolve();
    await reconciled;
    expect(fixture.phases).toEqual([]);
    expect(fixture.live.metadata.finalizers).toEqual([]);
  });
});
