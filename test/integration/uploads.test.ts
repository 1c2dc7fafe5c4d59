import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { label } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import type { ContentKey } from '../../core/contracts/store.ts';
import type { UploadStore } from '../../core/contracts/upload-store.ts';
import { createUploadCollector } from '../../core/manager/content/uploads.ts';
import { systemClock } from '../../core/platform/clock.ts';
import { connect, secretResource } from '../../core/platform/kube/index.ts';
import { IndexedCache } from '../../core/platform/runtime/index.ts';
import { ClusterUploads, DirectoryUploads } from '../../core/store/index.ts';
import { uploadLabel } from '../../core/store/uploads/upload-secrets.ts';
import { eventually } from '../helpers/eventually.ts';
import { installCrds } from '../helpers/install-crds.ts';
import { plane } from '../helpers/plane.ts';
import { silentLogger } from '../helpers/silent-logger.ts';
import { aTestNamespace } from '../helpers/test-namespace.ts';

const { signal } = new AbortController();
const kube = connect({ kubeconfig: plane.kubeconfig, userAgent: 'rukpak-test/1' });
let namespace = '';
let drop: () => Promise<void>;
let folder: string;
const owners: ContentKey[] = [];

beforeAll(async () => {
  await installCrds(plane.kubeconfig);
  ({ namespace, drop } = await aTestNamespace(kube.client, 'uploads'));
  folder = await mkdtemp(join(tmpdir(), 'uploads-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
  for (const { name } of owners) await kube.client.delete(bundleResource, { name });
  await drop();
  await kube.close();
});

/** An owner that exists, so that Kubernetes does not collect what the test looks at. */
async function aKey(name: string): Promise<ContentKey> {
  const { metadata } = await kube.client.create(bundleResource, {
    apiVersion: 'core.rukpak.io/v1alpha1',
    kind: 'Bundle',
    metadata: { generateName: `${name}-` },
    // A class that nothing serves.
    spec: { provisionerClassName: 'uploads-test', source: { type: 'upload', upload: {} } },
  });
  const key = { name: metadata.name ?? '', uid: metadata.uid ?? '' };
  owners.push(key);
  return key;
}

async function put(store: UploadStore, key: ContentKey, bytes: Uint8Array): Promise<void> {
  const digest = createHash('sha256').update(bytes).digest('hex');
  const path = join(folder, `.${digest}.tmp`);
  await writeFile(path, bytes);
  await store.put(key, { path, size: bytes.byteLength, digest }, signal);
  await rm(path, { force: true });
}

async function read(store: UploadStore, key: ContentKey): Promise<Buffer | undefined> {
  const stream = await store.read(key, signal);
  return stream && (await buffer(stream));
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

async function secretsOf({ uid }: ContentKey) {
  const labelSelector = `${uploadLabel.of}=${uid}`;
  return (await kube.client.list(secretResource, { namespace, labelSelector })).items;
}

const stores: readonly [string, () => UploadStore][] = [
  ['a directory', () => new DirectoryUploads(join(folder, 'kept'))],
  ['the cluster', () => new ClusterUploads({ client: kube.client, namespace })],
];

describe.each(stores)('uploads in %s', (_where, create) => {
  const large = randomBytes(1_300_000);

  test('come back byte for byte, also after a restart', async () => {
    const key = await aKey('one');
    await put(create(), key, large);
    expect((await read(create(), key))?.equals(large)).toBe(true);
    expect(await create().digest(key, signal)).toBe(digestOf(large));
    expect(await create().has(key, signal)).toBe(true);
    await create().delete(key, signal);
  });

  test('may be empty', async () => {
    const key = await aKey('empty');
    await put(create(), key, Buffer.alloc(0));
    expect(await read(create(), key)).toHaveLength(0);
    await create().delete(key, signal);
  });

  test('belong to one Bundle, not to another or a recreated one', async () => {
    const key = await aKey('mine');
    await put(create(), key, large);
    for (const other of [
      { ...key, uid: 'another' },
      { name: 'other', uid: 'other' },
    ]) {
      expect(await read(create(), other)).toBeUndefined();
      expect(await create().digest(other, signal)).toBeUndefined();
      expect(await create().has(other, signal)).toBe(false);
    }
    await create().delete(key, signal);
    expect(await read(create(), key)).toBeUndefined();
    await create().delete(key, signal);
  });

  test('are the old bytes or the new ones while they are replaced, and never a mix', async () => {
    const store = create();
    const key = await aKey('moving');
    const versions = Array.from({ length: 4 }, () => randomBytes(1_100_000));
    await put(store, key, versions[0] ?? large);
    const replaced = new AbortController();
    const writing = Promise.all(
      versions.map(async (bytes) => await put(store, key, bytes)),
    ).finally(() => replaced.abort());
    const seen = new Set<string>();
    while (!replaced.signal.aborted) {
      const bytes = await read(store, key).catch((error: Error) => {
        expect(error.message).toContain('was replaced while it was being read');
      });
      if (bytes !== undefined) seen.add(digestOf(bytes));
    }
    await writing;
    const known = versions.map(digestOf);
    for (const digest of seen) expect(known).toContain(digest);
    expect(known).toContain(await store.digest(key, signal));
    const last = await read(store, key);
    expect(known).toContain(digestOf(last ?? large));
    await store.delete(key, signal);
  });

  test('are removed without a Bundle that uses them', async () => {
    const store = create();
    const [wanted, unwanted] = [await aKey('wanted'), await aKey('unwanted')];
    for (const key of [wanted, unwanted]) await put(store, key, large);
    await store.collect(async ({ uid }) => uid === wanted.uid, signal);
    expect(await read(store, unwanted)).toBeUndefined();
    expect((await read(store, wanted))?.equals(large)).toBe(true);
    await store.delete(wanted, signal);
  });
});

describe('in Secrets', () => {
  test('chunks are small enough for etcd, owned by the Bundle, and gone when replaced', async () => {
    const store = new ClusterUploads({ client: kube.client, namespace });
    const key = await aKey('owned');
    await put(store, key, randomBytes(1_300_000));
    await put(store, key, randomBytes(700_000));
    const secrets = await secretsOf(key);
    const parts = secrets.map(({ metadata }) => metadata.labels?.[uploadLabel.part]);
    expect(parts).toHaveLength(3);
    expect(new Set(parts)).toEqual(new Set(['index', 'chunk']));
    for (const { type, metadata } of secrets) {
      expect(type).toBe('core.rukpak.io/upload');
      expect(metadata.ownerReferences).toEqual([
        { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'Bundle', ...key },
      ]);
    }
    await store.delete(key, signal);
    expect(await secretsOf(key)).toEqual([]);
  });

  test('chunks that a crash left without an index are not an upload, and the next one replaces them', async () => {
    const key = await aKey('crashed');
    const broken = new ClusterUploads({
      client: new Proxy(kube.client, {
        get: (target, name) =>
          name === 'get'
            ? async () => await Promise.reject(new Error('the process ends'))
            : Reflect.get(target, name).bind(target),
      }),
      namespace,
    });
    const bytes = randomBytes(700_000);
    await expect(put(broken, key, bytes)).rejects.toThrow('the process ends');
    const store = new ClusterUploads({ client: kube.client, namespace });
    expect(await secretsOf(key)).toHaveLength(2);
    expect(await read(store, key)).toBeUndefined();
    await put(store, key, bytes);
    expect((await read(store, key))?.equals(bytes)).toBe(true);
    await store.collect(async () => true, signal);
    expect((await read(store, key))?.equals(bytes)).toBe(true);
    await store.delete(key, signal);
  });
});

test('Secrets that look like uploads of nobody do not keep others from being removed', async () => {
  const store = new ClusterUploads({ client: kube.client, namespace });
  const forged = { [uploadLabel.part]: 'chunk' };
  const left = { ...forged, [uploadLabel.of]: 'gone', [label.ownerName]: 'gone' };
  for (const [name, labels] of Object.entries({ forged, left })) {
    const metadata = { name, namespace, labels };
    await kube.client.create(secretResource, { apiVersion: 'v1', kind: 'Secret', metadata });
  }
  const stop = new AbortController();
  const onLeftover = vi.fn();
  const collector = createUploadCollector({
    store,
    client: kube.client,
    kinds: { bundles: new IndexedCache() },
    interval: 10,
    clock: systemClock,
    onLeftover,
    logger: silentLogger,
  });
  const running = collector.run(stop.signal);
  const get = async () => await kube.client.get(secretResource, { namespace, name: 'left' });
  await eventually(async () => await expect(get()).rejects.toThrow('not found'));
  stop.abort();
  await running;
  expect(onLeftover).not.toHaveBeenCalled();
});

test('where there are no Secrets there is nothing to remove', async () => {
  const { namespace: empty, drop } = await aTestNamespace(kube.client, 'no-uploads');
  onTestFinished(drop);
  const store = new ClusterUploads({ client: kube.client, namespace: empty });
  await expect(store.collect(async () => true, signal)).resolves.toBeUndefined();
});

test('a directory holds nothing but whole uploads', async () => {
  expect(await readdir(join(folder, 'kept'))).toEqual([]);
});
