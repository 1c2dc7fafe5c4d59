import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { aKeptBundle, BundleFixture } from '../../test/helpers/bundle-fixture.ts';
import { defaultLimits as limits } from '../content/index.ts';
import { DirectoryUploads, DiskStore, KeptArchives } from '../store/index.ts';

const deletionTimestamp = '2026-01-01T00:00:00Z';
let directory: string;

beforeEach(async () => {
  const made = await mkdtemp(join(tmpdir(), 'long-name-'));
  onTestFinished(() => rm(made, { recursive: true }));
  directory = made;
});

function aFixture(bundle: Bundle, isInstalled = false): BundleFixture {
  const onLeftover = (): void => undefined;
  const store = new DiskStore({ directory, externalAddress: '', limits });
  const known = { isInstalled: () => isInstalled, isLive: () => false };
  const options = { store, directory, limits, ...known, onLeftover };
  const kept = new KeptArchives(options);
  const uploads = new DirectoryUploads(join(directory, 'uploads'));
  return new BundleFixture(bundle, { store, uploads, release: (each) => kept.release(each) });
}

async function deleted(fixture: BundleFixture, name: string): Promise<readonly string[]> {
  const bundle = fixture.client.peek({ name }) as Bundle;
  fixture.change({ ...bundle, metadata: { ...bundle.metadata, deletionTimestamp } });
  await fixture.reconcile(name);
  return fixture.client.peek({ name })?.metadata.finalizers ?? [];
}

test.each([252, 253])('a name of %d characters is refused with the reason', async (length) => {
  const name = 'x'.repeat(length);
  const fixture = aFixture(aKeptBundle({ name }));
  await fixture.reconcile(name);
  const { status } = fixture.client.peek({ name }) as Bundle;
  expect(status?.phase).toBe('Failing');
  expect(status?.conditions?.[0]?.message).toBe(
    `persist bundle content: content cannot be stored under the bundle name "${'x'.repeat(100)}": it must be a DNS subdomain of at most 251 characters`,
  );
  expect(await deleted(fixture, name)).toEqual([]);
});

test('the content of the longest name is stored, kept while it is installed, and known to a later process', async () => {
  const name = 'x'.repeat(251);
  const fixture = aFixture(aKeptBundle({ name }), true);
  await fixture.reconcile(name);
  expect(await deleted(fixture, name)).toEqual([]);
  const kept = await readdir(join(directory, 'kept'));
  expect(kept).toHaveLength(2);
  const store = new DiskStore({ directory, externalAddress: '', limits });
  const later = new KeptArchives({
    store,
    directory,
    limits,
    isInstalled: () => true,
    isLive: () => false,
    onLeftover: () => undefined,
  });
  expect(later.get(name)?.metadata.name).toBe(name);
  expect(await later.load({ name, uid: `uid-of-${name}` })).toBeDefined();
});

test('a Bundle whose upload no directory can have is deleted', async () => {
  const name = 'x'.repeat(220);
  const source = { type: 'upload', upload: {} };
  const metadata = { uid: '2f1a5f8e-8c60-4c58-9a5e-0f1d2c3b4a59', name };
  const fixture = aFixture(aKeptBundle({ name, source, metadata }));
  expect(await deleted(fixture, name)).toEqual([]);
});
