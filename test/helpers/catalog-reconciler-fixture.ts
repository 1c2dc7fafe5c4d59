import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBlobs } from '../../catalog/blobs/index.ts';
import { IndexedCache, type KubernetesObject } from '../../core/controller.ts';
import type { ContentChange } from '../../operators/catalogs/catalog-contents.ts';
import { ContentStore } from '../../operators/catalogs/content/content-store.ts';
import { writeContent } from '../../operators/catalogs/content/write-content.ts';
import type { CatalogKindAdapter } from '../../operators/catalogs/kinds/catalog-kind.ts';
import {
  type CatalogParts,
  CatalogReconciler,
} from '../../operators/catalogs/reconcile/catalog-reconciler.ts';
import { ServedCatalogs } from '../../operators/catalogs/serving/served-catalogs.ts';
import type { CatalogFailure } from '../../operators/catalogs/source/catalog-failure.ts';
import { FakeKubeClient } from './fake-kube-client.ts';
import { ManualClock } from './manual-clock.ts';

const { signal } = new AbortController();

/** The image of `aCatalog`. */
export const shopTag = 'reg.example/shop:v1';

/** A Catalog named `shop` of `shopTag`. */
export function aCatalog(image: object = {}, generation = 1) {
  return {
    apiVersion: 'catalogd.operatorframework.io/v1alpha1',
    kind: 'Catalog',
    metadata: { name: 'shop', uid: 'uid-1', generation },
    spec: { source: { type: 'image', image: { ref: shopTag, ...image } } },
  };
}

/** Blobs of a package with one channel and bundle. */
export function packageBlobs(name: string, version = '1.0.0', description = ''): string {
  const bundle = `${name}.v${version}`;
  const value = { packageName: name, version };
  return [
    { schema: 'olm.package', name, defaultChannel: 'stable', description },
    { schema: 'olm.channel', package: name, name: 'stable', entries: [{ name: bundle }] },
    {
      schema: 'olm.bundle',
      package: name,
      name: bundle,
      image: `quay.example/${name}@sha256:${'0'.repeat(64)}`,
      properties: [{ type: 'olm.package', value }],
    },
  ]
    .map((blob) => JSON.stringify(blob))
    .join('\n');
}

/** A replica that reconciles catalogs of one kind: its registry and API server are fakes. */
export class ReconcilerFixture {
  readonly client: FakeKubeClient;
  readonly clock: ManualClock;
  readonly served: ServedCatalogs;
  readonly cache = new IndexedCache();
  readonly changes: ContentChange[] = [];
  readonly events: string[] = [];
  readonly store: ContentStore;
  readonly #directory: string;
  readonly #reconciler: CatalogReconciler;
  isLeading = true;
  /** Digest of each tag. */
  readonly tags = new Map<string, string>();
  /** Files by digest, in which each text is one. */
  readonly contents = new Map<string, string>();
  /** Requests for digests, and downloads. */
  readonly resolved: string[] = [];
  readonly fetched: string[] = [];
  resolveFailure: CatalogFailure | undefined;
  fetchFailure: CatalogFailure | undefined;
  /** Runs in the middle of a download. */
  onFetch: (signal: AbortSignal) => Promise<void> = async () => undefined;

  private constructor(
    adapter: CatalogKindAdapter,
    shared: { directory: string; client: FakeKubeClient; clock: ManualClock; address: string },
  ) {
    this.client = shared.client;
    this.clock = shared.clock;
    this.served = new ServedCatalogs(shared.clock);
    this.#directory = shared.directory;
    this.store = new ContentStore(shared.directory);
    this.served.onChange((change) => this.changes.push(change));
    const parts: CatalogParts = {
      client: this.client,
      images: { resolve: async ({ ref }) => this.#resolve(ref) },
      fetcher: { fetch: async (wanted, by) => await this.#fetch(wanted, by) },
      store: this.store,
      served: this.served,
      isLeading: () => this.isLeading,
      events: { event: (_, { reason, message }) => this.events.push(`${reason}: ${message}`) },
      address: shared.address,
      clock: this.clock,
    };
    this.#reconciler = new CatalogReconciler({ ...parts, adapter, cache: this.cache });
    this.cache.onChange(({ object }) => this.#reconciler.changed(object));
  }

  static async start(adapter: CatalogKindAdapter): Promise<ReconcilerFixture> {
    const directory = await mkdtemp(join(tmpdir(), 'catalog-reconciler-'));
    const address = 'https://catalogs.example';
    const shared = { directory, client: new FakeKubeClient(), clock: new ManualClock(), address };
    return new ReconcilerFixture(adapter, shared);
  }

  /** The same cluster and disk with a new process; of another replica, an empty disk. */
  async restarted(
    adapter: CatalogKindAdapter,
    { keepsDisk = true, address = 'https://catalogs.example' } = {},
  ): Promise<ReconcilerFixture> {
    await this.served.close();
    if (!keepsDisk) await rm(this.#directory, { recursive: true, force: true });
    const shared = { directory: this.#directory, client: this.client, clock: this.clock, address };
    const next = new ReconcilerFixture(adapter, shared);
    for (const [tag, digest] of this.tags) next.tags.set(tag, digest);
    for (const [digest, content] of this.contents) next.contents.set(digest, content);
    for (const object of this.client.everything) next.cache.upsert(object);
    return next;
  }

  async stop(): Promise<void> {
    await this.served.close();
    await rm(this.#directory, { recursive: true, force: true });
  }

  /** Pushes content under a tag; returns the reference by digest. */
  push(tag: string, content: string): string {
    const digest = `reg.example/shop@sha256:${String(this.contents.size).padStart(64, '0')}`;
    this.contents.set(digest, content);
    this.tags.set(tag, digest);
    return digest;
  }

  /** Creates or changes the object as a user would. */
  put(object: KubernetesObject): KubernetesObject {
    const stored = this.client.put(object);
    this.cache.upsert(stored);
    return stored;
  }

  get object(): KubernetesObject | undefined {
    return this.client.peek({ name: 'shop' });
  }

  /** The live Catalog with another image, and another generation. */
  changed(image: object, generation: number): KubernetesObject {
    const { spec } = aCatalog(image);
    const live = this.object!;
    return { ...live, metadata: { ...live.metadata, generation }, spec };
  }

  get status(): Readonly<Record<string, unknown>> {
    return (this.object?.['status'] ?? {}) as Record<string, unknown>;
  }

  /** Conditions in short: `Unpacked=True UnpackSuccessful: message`. */
  get conditions(): readonly string[] {
    const list = (this.status['conditions'] ?? []) as Record<string, string>[];
    return list.map(
      ({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`,
    );
  }

  async reconcile(): Promise<number | undefined> {
    const context = { signal, stopping: signal };
    return (await this.#reconciler.reconcile('shop', context)).requeueAfter;
  }

  #resolve(ref: string): string {
    this.resolved.push(ref);
    if (this.resolveFailure !== undefined) throw this.resolveFailure;
    return this.tags.get(ref) ?? ref;
  }

  async #fetch(
    { key, uid, request, resolvedRef }: Parameters<CatalogParts['fetcher']['fetch']>[0],
    by: AbortSignal,
  ) {
    this.fetched.push(resolvedRef);
    await this.onFetch(by);
    if (this.fetchFailure !== undefined) throw this.fetchFailure;
    const directory = join(await this.store.workspace(), 'content');
    await mkdir(directory);
    const limits = { maxBlobs: 1000, maxNameBytes: 100_000 };
    const blobs = readBlobs('catalog.json', Buffer.from(this.contents.get(resolvedRef) ?? ''));
    await writeContent(directory, streamed(blobs), { limits, signal: by });
    const state = { uid, ref: request.ref, resolvedRef, unpackedAt: this.clock.now() };
    return await this.store.put(key, state, directory);
  }
}

async function* streamed<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}
