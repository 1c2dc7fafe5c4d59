import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { annotation, finalizer } from '../../../api/v1alpha1/labels.ts';
import { uploadPin } from '../../../api/v1alpha1/rules/upload-pin.ts';
import { ampleMemory } from '../../../test/helpers/ample-memory.ts';
import { EventList } from '../../../test/helpers/event-list.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import { aTree } from '../../../test/helpers/registry-bundle.ts';
import { silentLogger } from '../../../test/helpers/silent-logger.ts';
import { aStoredBundle } from '../../../test/helpers/stored-objects.ts';
import { packBundle } from '../../content/index.ts';
import { Metrics } from '../../platform/observe/index.ts';
import { defineProvisioner } from '../../sdk.ts';
import { watchKinds } from '../kinds/kinds.ts';
import { settingsOf } from '../settings.ts';
import { createUnpackingZone, type UnpackingZone } from './unpacking-zone.ts';

const uid = '3f2a1b4c-0d5e-4f60-8a7b-9c0d1e2f3a4b';
const { signal } = new AbortController();
let directory: string;
let bundle: Bundle;
let zone: UnpackingZone;

async function packed(text: string): Promise<Buffer> {
  return await buffer(packBundle(aTree({ 'manifests/a.yaml': text })));
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function store(bytes: Uint8Array): Promise<void> {
  await writeFile(join(directory, 'uploads', `demo.${uid}.tgz`), bytes);
}

/** A replica that has neither unpacked the Bundle nor received its upload. */
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'unpacking-zone-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const plain = defineProvisioner({ className: 'plain', bundle: async (files) => files });
  const storage = { storage: 'directory', maxBytes: 1024 ** 2, syncInterval: 60_000 } as const;
  const settings = settingsOf(
    {
      provisioners: [plain],
      content: { directory: join(directory, 'archives') },
      uploads: { ...storage, directory: join(directory, 'uploads') },
    },
    { provisioners: [plain], sources: [], memory: ampleMemory(), logger: silentLogger },
  );
  const [client, clock] = [new FakeKubeClient(), new ManualClock()];
  const kinds = watchKinds({ client, clock, logger: silentLogger });
  zone = createUnpackingZone(settings, {
    client,
    kinds,
    events: new EventList(),
    metrics: new Metrics(),
    ownPlaces: new Map(),
    onLeftover: () => undefined,
    clock,
    signal,
  });
  bundle = aStoredBundle({
    source: { type: 'upload', upload: {} },
    metadata: {
      uid,
      finalizers: [finalizer.deleteCachedBundle],
      annotations: { [annotation.pin]: uploadPin(sha256(await packed('first'))) },
    },
    status: { phase: 'Unpacked' },
  });
  kinds.bundles.upsert(bundle);
});

test('an upload with other bytes than those that the Bundle was unpacked from is not its content', async () => {
  const others = await packed('second');
  await store(others);
  const restored = zone.bundles.restore('demo', signal);
  await expect(restored).rejects.toThrow(
    `waiting for bundle to be uploaded again: it was unpacked from bytes with digest ${bundle.metadata.annotations?.[annotation.pin]}, and those with digest ${uploadPin(sha256(others))} are stored`,
  );
  expect(await zone.store.has({ name: 'demo', uid })).toBe(false);
});

test('the upload that the Bundle was unpacked from is restored', async () => {
  await store(await packed('first'));
  await zone.bundles.restore('demo', signal);
  expect(await zone.store.has({ name: 'demo', uid })).toBe(true);
});
