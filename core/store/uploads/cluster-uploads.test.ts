import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { FakeKubeClient } from '../../../test/helpers/fake-kube-client.ts';
import { ManualClock } from '../../../test/helpers/manual-clock.ts';
import type { ContentKey } from '../../contracts/store.ts';
import type { RawRequest } from '../../platform/kube/kube-client.ts';
import { ClusterUploads } from './cluster-uploads.ts';
import { uploadLabel } from './upload-secrets.ts';

/** Also lists and deletes by labels, by the paths that uploads use. */
class Cluster extends FakeKubeClient {
  readonly deletions: RawRequest[] = [];

  override request = async (request: RawRequest): Promise<unknown> => {
    const { items } = await this.list(secrets);
    const query = new URL(request.path, 'http://server').searchParams;
    const wanted = (query.get('labelSelector') ?? '').split(',').map((each) => each.split('='));
    const selected = items.filter(({ metadata: { labels = {} } }) =>
      wanted.every(([name = '', value]) => (labels[name] ?? value) === (value ?? labels[name])),
    );
    if (request.method === 'DELETE') {
      this.deletions.push(request);
      for (const { metadata } of selected) this.drop({ namespace, name: metadata.name ?? '' });
    }
    return { metadata: {}, items: selected.map(withTime) };
  };
}

function withTime(secret: KubernetesObject): KubernetesObject {
  const creationTimestamp = '2026-01-01T00:00:00Z';
  return { ...secret, metadata: { ...secret.metadata, creationTimestamp } };
}

const namespace = 'system';
const secrets = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };
const { signal } = new AbortController();
const demo: ContentKey = { name: 'demo', uid: 'uid-of-demo' };

let client: Cluster;
let clock: ManualClock;
let store: ClusterUploads;

beforeEach(() => {
  client = new Cluster();
  clock = new ManualClock();
  store = new ClusterUploads({ client, namespace, clock });
});

async function put(
  key: ContentKey,
  bytes: number,
  { until = signal, confirm }: { until?: AbortSignal; confirm?: () => Promise<void> } = {},
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'cluster-uploads-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, 'body');
  await writeFile(path, Buffer.alloc(bytes));
  const upload = { path, size: bytes, digest: String(bytes), ...(confirm && { confirm }) };
  await store.put(key, upload, until);
}

async function names(): Promise<readonly string[]> {
  const { items } = await client.list(secrets);
  return items.map(({ metadata }) => metadata.labels?.[uploadLabel.part] ?? '').toSorted();
}

describe('an upload that the cluster does not take whole', () => {
  test('leaves no chunks there', async () => {
    client.faults.create = [undefined, undefined, new Error('etcdserver: database space exceeded')];
    await expect(put(demo, 1_300_000)).rejects.toThrow('database space exceeded');
    expect(await names()).toEqual([]);
  });

  test('leaves none after its time is over either', async () => {
    const over = new AbortController();
    let created = 0;
    client.beforeCall = (call) => {
      if (call === 'create' && ++created === 2) over.abort(new Error('the time is over'));
    };
    await expect(put(demo, 1_300_000, { until: over.signal })).rejects.toThrow('the time is over');
    expect(await names()).toEqual([]);
    expect(client.deletions[0]?.signal?.aborted).not.toBe(true);
  });
});

describe('a request that the API server fulfils without an answer, and gets again', () => {
  /** The transport repeats requests that end with 5xx and Retry-After. */
  function twice(name: 'create' | 'update', part: string): void {
    const once = client[name].bind(client);
    client[name] = async (resource, object, until) => {
      const written = await once(resource, object, until);
      if (object.metadata.labels?.[uploadLabel.part] !== part) return written;
      client[name] = once;
      return await once(resource, object, until);
    };
  }

  test.each([
    ['create', 'chunk'],
    ['create', 'index'],
    ['update', 'index'],
  ] as const)('loses no upload: %s of the %s', async (name, part) => {
    if (name === 'update') await put(demo, 20);
    twice(name, part);
    await put(demo, 10);
    const sizes: number[] = [];
    const read = async (): Promise<void> => {
      for await (const bytes of (await store.read(demo, signal)) ?? []) sizes.push(bytes.length);
    };
    // Its digest in this test is none.
    await expect(read()).rejects.toThrow('is damaged');
    expect(sizes).toEqual([10]);
  });
});

test('an upload of another replica that was unpacked meanwhile stays, and the later one is refused', async () => {
  let isUnpacked = false;
  const confirm = async (): Promise<void> => {
    if (isUnpacked) throw new Error('bundle has already been unpacked');
    await put(demo, 10);
    isUnpacked = true;
  };
  const later = put(demo, 20, { confirm });
  await expect(later).rejects.toThrow('bundle has already been unpacked');
  expect(await store.digest(demo, signal)).toBe('10');
  expect(await names()).toEqual(['chunk', 'index']);
});

describe('chunks that no index names', () => {
  test('stay for an hour of this process, whatever its clock says: their index may be on its way', async () => {
    await put(demo, 10);
    const index = { namespace, name: `upload-${demo.uid}` };
    client.drop(index);
    clock.set(Date.parse('2026-01-01T02:00:00Z'));
    await store.collect(async () => true, signal);
    expect(await names()).toEqual(['chunk']);
    clock.advance(59 * 60_000);
    await store.collect(async () => true, signal);
    expect(await names()).toEqual(['chunk']);
    clock.advance(2 * 60_000);
    await store.collect(async () => true, signal);
    expect(await names()).toEqual([]);
  });
});

test('whether there is an upload is known by its index alone', async () => {
  expect(await store.has(demo, signal)).toBe(false);
  await put(demo, 1_300_000);
  client.calls.length = 0;
  expect(await store.has(demo, signal)).toBe(true);
  expect(client.calls).toEqual(['get']);
  expect(await store.has({ ...demo, uid: 'another' }, signal)).toBe(false);
});

test('a Bundle may have a longer name than a label', async () => {
  const key = { name: 'x'.repeat(100), uid: 'uid' };
  await put(key, 10);
  const { items } = await client.list(secrets);
  for (const { metadata } of items) {
    expect(Object.values(metadata.labels ?? {}).every((value) => value.length <= 63)).toBe(true);
    expect(metadata.labels?.[label.ownerKind]).toBe('Bundle');
  }
  const asked: ContentKey[] = [];
  await store.collect(async (each) => asked.push(each) > 0, signal);
  expect(asked).toEqual([key]);
});
