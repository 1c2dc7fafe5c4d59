import { beforeEach, describe, expect, test, vi } from 'vitest';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { annotation, finalizer } from '../../api/v1alpha1/labels.ts';
import { ampleMemory } from '../../test/helpers/ample-memory.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { ManualClock } from '../../test/helpers/manual-clock.ts';
import { MemoryStore } from '../../test/helpers/memory-store.ts';
import { anImage } from '../../test/helpers/objects.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { onlySource } from '../../test/helpers/source-types.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';
import { defaultLimits } from '../content/index.ts';
import type { BundleHandler } from '../contracts/provisioner.ts';
import type { Source } from '../contracts/source.ts';
import { WaitingError } from '../errors.ts';
import { aborted } from '../platform/clock.ts';
import { ContentRestorer } from './content-restorer.ts';
import { storedContentKey, type UnpackDependencies } from './dependencies.ts';
import { SharedFetches } from './fetch/shared-fetches.ts';
import { UnpackSlots } from './fetch/unpack-slots.ts';

const key = { name: 'demo', uid: 'uid-of-demo' };
const fetched = aTree({ 'a.txt': 'fetched' });
const converted = aTree({ 'manifests/a.yaml': 'converted' });
const { signal } = new AbortController();

let store: MemoryStore;
let cached: Bundle | undefined;
let bundle: Bundle;
const fetch = vi.fn<Source['fetch']>();
const handler = vi.fn<BundleHandler>();
const restored = vi.fn<(result: string) => void>();
const takeBack = vi.fn<UnpackDependencies['takeBack']>();
let clock: ManualClock;
let slots: UnpackSlots;
let restorer: ContentRestorer;

beforeEach(() => {
  store = new MemoryStore();
  clock = new ManualClock();
  bundle = unpackedFrom(`example.com/app@sha256:${'12'.repeat(32)}`);
  cached = bundle;
  fetch.mockReset();
  fetch.mockImplementation(async (resolvedSource) => ({ files: fetched, resolvedSource }));
  handler.mockReset();
  restored.mockReset();
  takeBack.mockReset().mockResolvedValue(false);
  handler.mockImplementation(async () => converted);
  slots = new UnpackSlots({ slots: 1, clock });
  restorer = new ContentRestorer({
    cache: { get: ({ name }) => (name === 'demo' ? cached : undefined) },
    sources: new Map([...onlySource('image', fetch), ...onlySource('configMaps', fetch)]),
    provisioners: new Map([['plain', { className: 'plain', bundle: handler }]]),
    store,
    release: (released) => store.delete(storedContentKey(released)),
    takeBack,
    uploads: undefined,
    slots,
    creatorOf: ({ metadata }) => metadata.name ?? '',
    addressOf: async (host) => host,
    fetches: new SharedFetches(),
    secrets: { of: () => ({ read: async () => undefined }), identityOf: () => '' },
    configMaps: { namespace: 'system', read: async () => undefined },
    limits: defaultLimits,
    memory: ampleMemory(),
    clock,
    logger: silentLogger,
    metrics: { content: { restored } },
    signal,
  });
});

function unpackedFrom(ref: string, finalizers = [finalizer.deleteCachedBundle]): Bundle {
  const status = { phase: 'Unpacked', resolvedSource: anImage(ref) };
  return aStoredBundle({ status, metadata: { finalizers } });
}

describe('what can be restored', () => {
  test.each([
    ['an unpacked Bundle', () => bundle, true],
    ['one that is not unpacked', () => aStoredBundle({ status: { phase: 'Failing' } }), false],
    ['one without status', () => aStoredBundle(), false],
    ['one of a class of others', () => aStoredBundle({ ...bundle, className: 'acme' }), false],
    [
      'one that is being deleted',
      () => ({ ...bundle, metadata: { ...bundle.metadata, deletionTimestamp: '2026-01-01' } }),
      false,
    ],
  ])('%s: %s', (...[, of, expected]) => {
    expect(restorer.canRestore(of())).toBe(expected);
  });
});

test('a status that somebody writes before core first reconciles the Bundle restores nothing', () => {
  const forged = unpackedFrom(`example.com/app@sha256:${'66'.repeat(32)}`, []);
  expect(restorer.canRestore(forged)).toBe(false);
});

describe('restoring', () => {
  test('fetches from where the Bundle is pinned to, converts and stores', async () => {
    await restorer.restore(bundle, signal);
    expect(fetch.mock.lastCall?.[0].image?.ref).toBe(bundle.status?.resolvedSource?.image?.ref);
    expect(handler.mock.lastCall?.[0]).toBe(fetched);
    expect(await store.load(key)).toBe(converted);
  });

  test('takes what was kept of a Bundle that exists again, and fetches nothing', async () => {
    takeBack.mockResolvedValue(true);
    await restorer.restore(bundle, signal);
    expect(takeBack.mock.calls).toEqual([[key]]);
    expect(fetch).not.toHaveBeenCalled();
    expect(restored.mock.calls).toEqual([['success']]);
  });

  test('stores no other content than that of the digest that is noted', async () => {
    const source = { type: 'configMaps', configMaps: [{ configMap: { name: 'content' } }] };
    const annotations = { [annotation.pin]: `sha256:${'12'.repeat(32)}` };
    cached = aStoredBundle({ source, metadata: { annotations }, status: { phase: 'Unpacked' } });
    const refusal = 'Restore the former content of ConfigMaps "content"';
    await expect(restorer.restore(cached, signal)).rejects.toThrow(refusal);
    expect(await store.has(key)).toBe(false);
  });

  test('fetches once for all who ask at the same time, and again for who asks later', async () => {
    await Promise.all([1, 2, 3].map(() => restorer.restore(bundle, signal)));
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(restored.mock.calls).toEqual([['success']]);
    await restorer.restore(bundle, signal);
    expect(fetch).toHaveBeenCalledTimes(2);
  });

  test('continues after the caller has left', async () => {
    const gate = Promise.withResolvers<void>();
    fetch.mockImplementationOnce(async (resolvedSource) => {
      await gate.promise;
      return { files: fetched, resolvedSource };
    });
    const gone = new AbortController();
    const asked = restorer.restore(bundle, gone.signal);
    gone.abort(new Error('the client left'));
    await expect(asked).rejects.toThrow('the client left');
    gate.resolve();
    await restorer.restore(bundle, signal);
    expect(fetch).toHaveBeenCalledTimes(1);
    expect(await store.load(key)).toBe(converted);
  });

  test('ends where the Bundle is deleted, and leaves its place to others', async () => {
    fetch.mockImplementation(async (_source, { signal }) => {
      await aborted(signal);
      throw signal.reason as Error;
    });
    const restoring = restorer.restore(bundle, signal).catch((error: unknown) => error);
    await eventually(() => expect(fetch).toHaveBeenCalled());
    restorer.abandon(key.uid);
    expect(await restoring).toEqual(
      new WaitingError(
        'the content of Bundle "demo" is not stored here and could not be fetched again: the Bundle is being deleted',
      ),
    );
    restorer.abandon(key.uid);
    const place = await slots.take(
      { creator: 'other', address: 'example.com' },
      AbortSignal.timeout(120_000),
    );
    place.release();
  });

  test('says in one sentence why it cannot', async () => {
    fetch.mockRejectedValue(new WaitingError('Back-off pulling image "x": refused'));
    await expect(restorer.restore(bundle, signal)).rejects.toThrow(
      'the content of Bundle "demo" is not stored here and could not be fetched again: Back-off pulling image "x": refused',
    );
    expect(restored.mock.calls).toEqual([['error']]);
    expect(await store.has(key)).toBe(false);
  });

  test('asks a source that has failed again after ten seconds, however many ask', async () => {
    fetch.mockRejectedValueOnce(new Error('refused'));
    await expect(restorer.restore(bundle, signal)).rejects.toThrow('refused');
    clock.advance(9_999);
    await expect(restorer.restore(bundle, signal)).rejects.toThrow('refused');
    expect(fetch).toHaveBeenCalledTimes(1);
    clock.advance(1);
    await eventually(() => restorer.restore(bundle, signal));
    expect(await store.has(key)).toBe(true);
  });

  test.each(['example.com/app:v1', `example.com/other@sha256:${'12'.repeat(32)}`])(
    'never takes what %s has by now for what was unpacked',
    async (ref) => {
      await expect(restorer.restore(unpackedFrom(ref), signal)).rejects.toThrow(
        'its status does not say which content it has',
      );
      expect(fetch).not.toHaveBeenCalled();
    },
  );

  test.each([
    ['is gone', undefined],
    ['has a namesake', { ...aStoredBundle(), metadata: { name: 'demo', uid: 'another' } }],
  ])('keeps nothing of a Bundle that %s meanwhile', async (_, now) => {
    handler.mockImplementation(async () => {
      cached = now;
      return converted;
    });
    await restorer.restore(bundle, signal);
    expect(await store.has(key)).toBe(false);
  });
});
