import { expect, test, vi } from 'vitest';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { annotation } from '../../api/v1alpha1/labels.ts';
import { aKeptBundle, BundleFixture } from '../../test/helpers/bundle-fixture.ts';
import { aTree } from '../../test/helpers/registry-bundle.ts';
import { onlySource } from '../../test/helpers/source-types.ts';
import type { BundleFiles } from '../contracts/bundle-files.ts';
import type { Source } from '../contracts/source.ts';

// ConfigMaps name no content: only webhooks keep them from being mutable, deleted or replaced.

const source = { type: 'configMaps', configMaps: [{ configMap: { name: 'content' } }] };
const key = { name: 'demo', uid: 'uid-of-demo' };
const before = aTree({ 'manifests/a.yaml': 'before' });
const after = aTree({ 'manifests/a.yaml': 'after' });
/** Must stay: annotations of existing Bundles have it. */
const digest = 'sha256:d369a942bbe0875b195ca4d6bd29fb7bc4364308cd440821d4b15cd391f42f28';

function fixtureOf(bundle: Bundle, files: BundleFiles = before) {
  const fetch = vi.fn<Source['fetch']>(async () => ({ files, resolvedSource: source }));
  const fixture = new BundleFixture(bundle, { sources: onlySource('configMaps', fetch) });
  const change = (files: BundleFiles) =>
    fetch.mockImplementation(async () => ({ files, resolvedSource: source }));
  return { fixture, fetch, change };
}

const noted = { metadata: { annotations: { [annotation.pin]: digest } }, source };
const refusal =
  'source bundle content: the content has changed since core unpacked this Bundle: ' +
  'it has the digest sha256:5a1a78e0e3f29b8acb2cf91cd385aebd001aac0ed180cf16cae39da11143a1dc, ' +
  `but ${digest} is expected. ` +
  'Restore the former content of ConfigMaps "content", or create another Bundle for the new one';

test('the digest of the content is noted before the Bundle is said to be unpacked', async () => {
  const { fixture } = fixtureOf(aKeptBundle({ source }));
  fixture.client.beforeCall = async () => {
    const { annotations } = fixture.live.metadata;
    if (fixture.client.patches.at(-1)?.options.subresource !== 'status') return;
    expect(annotations).toEqual({ [annotation.pin]: digest });
  };
  await fixture.reconcile();
  expect(fixture.live.status).toMatchObject({ phase: 'Unpacked', resolvedSource: source });
  expect(fixture.live.metadata.annotations).toEqual({ [annotation.pin]: digest });
});

test('other content never takes the place of lost content, and the former one does', async () => {
  const { fixture, change } = fixtureOf(aKeptBundle({ source }));
  await fixture.reconcile();
  await fixture.store.delete(key);
  change(after);
  await fixture.reconcile();
  expect(await fixture.store.has(key)).toBe(false);
  expect(fixture.live.status?.phase).toBe('Failing');
  expect(fixture.live.status?.conditions?.[0]?.message).toBe(refusal);
  change(before);
  await fixture.reconcile();
  expect(fixture.live.status?.phase).toBe('Unpacked');
  expect(await fixture.store.load(key)).toEqual(before);
});

test('a restored Bundle gets the content that its annotation names', async () => {
  const { fixture } = fixtureOf(aKeptBundle(noted), after);
  await fixture.reconcile();
  expect(fixture.live.status?.conditions?.[0]?.message).toBe(refusal);
});

test('content that was stored under another pin than that of a backup is fetched again', async () => {
  const { fixture, fetch } = fixtureOf(aKeptBundle(noted));
  await fixture.store.put({ ...key, pin: 'sha256:another' }, after);
  await fixture.reconcile();
  expect(fetch).toHaveBeenCalledTimes(1);
  expect(await fixture.store.load({ ...key, pin: digest })).toEqual(before);
});

test('content that was stored and not noted is fetched again', async () => {
  const annotations = { [annotation.pin]: '' };
  const { fixture, fetch } = fixtureOf(aKeptBundle({ source, metadata: { annotations } }));
  await fixture.store.put(key, after);
  await fixture.reconcile();
  expect(fetch).toHaveBeenCalledTimes(1);
  expect(await fixture.store.load(key)).toEqual(before);
  expect(fixture.live.metadata.annotations).toEqual({ [annotation.pin]: digest });
});

test('a Bundle of an earlier version keeps its content, and is noted when that was lost', async () => {
  const status = { phase: 'Unpacked', resolvedSource: source } as const;
  const { fixture, fetch } = fixtureOf(aKeptBundle({ source, status }));
  await fixture.store.put(key, before);
  await fixture.reconcile();
  expect(fetch).not.toHaveBeenCalled();
  expect(fixture.live.metadata.annotations).toBeUndefined();
  await fixture.store.delete(key);
  await fixture.reconcile();
  expect(fixture.live.metadata.annotations).toEqual({ [annotation.pin]: digest });
});
