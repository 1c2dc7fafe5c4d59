import { describe, expect, test } from 'vitest';
import type { Bundle, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { annotation, finalizer } from '../../api/v1alpha1/labels.ts';
import { aKeptBundle, BundleFixture, pinned, tree } from '../../test/helpers/bundle-fixture.ts';
import { anImage } from '../../test/helpers/objects.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { aStoredBundle } from '../../test/helpers/stored-objects.ts';

const key = { name: 'demo', uid: 'uid-of-demo' };
const digest = `sha256:${'12'.repeat(32)}`;
const evil = anImage(`example.com/app@sha256:${'66'.repeat(32)}`);
const warning =
  `Warning ResolvedSourceRestored: Another client changed status.resolvedSource. Core restored sha256:${'12'.repeat(32)}, from which it unpacked this Bundle. ` +
  'Find out who may write bundles/status';

/** What somebody may write who has the right to nothing but bundles/status. */
const forgeries: readonly [string, (status: BundleStatus) => BundleStatus | undefined][] = [
  ['another pin', (status) => ({ ...status, resolvedSource: evil })],
  ['another pin of a Bundle that fails', () => ({ phase: 'Failing', resolvedSource: evil })],
  ['another pin and no phase', () => ({ resolvedSource: evil })],
  ['no status', () => undefined],
];

function forge(fixture: BundleFixture, forgery: (typeof forgeries)[number][1]): void {
  const { status: before, ...bundle } = fixture.live;
  const status = forgery(before ?? {});
  fixture.change(status === undefined ? bundle : { ...bundle, status });
}

async function unpacked(bundle: Bundle = aKeptBundle()): Promise<BundleFixture> {
  const fixture = new BundleFixture(bundle);
  await fixture.reconcile();
  fixture.events.taken();
  return fixture;
}

describe.each(forgeries)('a status with %s', (...[, forgery]) => {
  test('replaces no stored content, and is put right', async () => {
    const fixture = await unpacked();
    const before = fixture.live.status;
    forge(fixture, forgery);
    await fixture.reconcile();
    expect(fixture.fetch).toHaveBeenCalledTimes(1);
    expect(fixture.live.status).toEqual(before);
  });

  test('does not decide what is fetched for lost content', async () => {
    const fixture = await unpacked();
    await fixture.store.delete(key);
    forge(fixture, forgery);
    await fixture.reconcile();
    expect(fixture.fetch.mock.lastCall?.[0]).toEqual(pinned);
    expect(fixture.live.status).toMatchObject({ phase: 'Unpacked', resolvedSource: pinned });
  });

  test('does not decide what a new Bundle is unpacked from', async () => {
    const fixture = new BundleFixture(aStoredBundle());
    fixture.fetch.mockRejectedValueOnce(new Error('connection reset'));
    await fixture.failure();
    forge(fixture, forgery);
    await fixture.reconcile();
    expect(fixture.fetch.mock.lastCall?.[0]).toEqual(anImage('example.com/app:v1'));
  });
});

test('a pin that is there before core first sees the Bundle is not believed', async () => {
  const fixture = await unpacked(aStoredBundle({ status: { resolvedSource: evil } }));
  expect(fixture.fetch.mock.calls.map(([source]) => source)).toEqual([
    anImage('example.com/app:v1'),
  ]);
  expect(fixture.live.status?.resolvedSource).toEqual(pinned);
});

test('a forged pin is told of by an Event, whether content was lost or not', async () => {
  for (const isLost of [false, true]) {
    const fixture = await unpacked();
    if (isLost) await fixture.store.delete(key);
    forge(fixture, (status) => ({ ...status, resolvedSource: evil }));
    await fixture.reconcile();
    expect(fixture.events.taken()).toContain(warning);
  }
});

test('the pin is noted before the Bundle is said to be unpacked', async () => {
  const fixture = new BundleFixture(aKeptBundle());
  fixture.client.beforeCall = async () => {
    const isNoted = fixture.live.metadata.annotations?.[annotation.pin] === digest;
    if (fixture.client.patches.at(-1)?.options.subresource === 'status') expect(isNoted).toBe(true);
  };
  await fixture.reconcile();
  expect(fixture.live.metadata.annotations).toEqual({ [annotation.pin]: digest });
});

test('a new Bundle has its note with its finalizer, empty until it is unpacked', async () => {
  const fixture = new BundleFixture(aStoredBundle());
  fixture.fetch.mockRejectedValueOnce(new Error('connection reset'));
  await fixture.failure();
  expect(fixture.live.metadata).toMatchObject({
    finalizers: [finalizer.deleteCachedBundle],
    annotations: { [annotation.pin]: '' },
  });
});

test('a Bundle from before there were notes is believed once, and noted at once', async () => {
  const status = { phase: 'Failing', resolvedSource: pinned } as const;
  const fixture = new BundleFixture(aKeptBundle({ status }));
  fixture.fetch.mockRejectedValueOnce(new Error('connection reset'));
  await fixture.failure();
  expect(fixture.live.metadata.annotations).toEqual({ [annotation.pin]: digest });
  await fixture.store.put(key, aTree({ a: 'b' }));
  await fixture.reconcile();
  expect(fixture.fetch).toHaveBeenCalledTimes(1);
  expect(fixture.live.status).toMatchObject({ phase: 'Unpacked', resolvedSource: pinned });
});

test('a source that is pinned by its spec needs no note', async () => {
  const fixture = await unpacked(aKeptBundle({ source: pinned }));
  expect(fixture.live.metadata.annotations).toBeUndefined();
  expect(fixture.client.calls).toEqual(['patch']);
});

test('a restored Bundle without status is fetched from what it was pinned to', async () => {
  const annotations = { [annotation.pin]: digest };
  const fixture = await unpacked(aKeptBundle({ metadata: { uid: 'another', annotations } }));
  expect(fixture.fetch.mock.lastCall?.[0]).toEqual(pinned);
});

test('an archive of another pin than that of a restored Bundle is replaced, whatever its status says', async () => {
  const annotations = { [annotation.pin]: digest };
  const status = { phase: 'Unpacked', resolvedSource: pinned } as const;
  const fixture = new BundleFixture(aKeptBundle({ metadata: { annotations }, status }));
  await fixture.store.put({ ...key, pin: `sha256:${'66'.repeat(32)}` }, aTree({ a: 'b' }));
  await fixture.reconcile();
  expect(fixture.fetch.mock.calls.map(([source]) => source)).toEqual([pinned]);
  expect(await fixture.store.load({ ...key, pin: digest })).toBe(tree);
});

test('the content of a tag is stored with the pin that it has at the fetch', async () => {
  const fixture = await unpacked();
  expect(await fixture.store.has({ ...key, pin: digest })).toBe(true);
  expect(await fixture.store.has({ ...key, pin: evil.image?.ref })).toBe(false);
});

test('a note that is no pin is refused, and names what to do', async () => {
  const annotations = { [annotation.pin]: 'v1' };
  const fixture = await unpacked(aKeptBundle({ metadata: { annotations } }));
  expect(fixture.fetch).not.toHaveBeenCalled();
  expect(fixture.live.status?.conditions?.[0]?.message).toBe(
    'source bundle content: annotation core.rukpak.io/pin "v1" is not valid for a source of type image: restore the value that core has written, or delete this Bundle',
  );
});
