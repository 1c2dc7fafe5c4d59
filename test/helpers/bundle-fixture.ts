import { vi } from 'vitest';
import type { Bundle, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { finalizer } from '../../api/v1alpha1/labels.ts';
import { bundleResource } from '../../api/v1alpha1/resources.ts';
import { type BundleDependencies, storedContentKey } from '../../core/bundle/dependencies.ts';
import { BundleReconciler, SharedFetches, UnpackSlots } from '../../core/bundle/index.ts';
import { defaultLimits } from '../../core/content/index.ts';
import type { BundleHandler } from '../../core/contracts/provisioner.ts';
import type { Source } from '../../core/contracts/source.ts';
import { UnservedObjects } from '../../core/manager/kinds/unserved.ts';
import { IndexedCache } from '../../core/platform/runtime/index.ts';
import { ampleMemory } from './ample-memory.ts';
import { EventList } from './event-list.ts';
import { FakeKubeClient } from './fake-kube-client.ts';
import { ManualClock } from './manual-clock.ts';
import { MemoryStore } from './memory-store.ts';
import { anImage } from './objects.ts';
import { aTree } from './registry-bundle.ts';
import { silentLogger } from './silent-logger.ts';
import { onlySource } from './source-types.ts';
import { aStoredBundle } from './stored-objects.ts';
import { conditionLines, isSummary, withoutSummary } from './summary-conditions.ts';

export const tree = aTree({ 'manifests/cm.yaml': 'kind: ConfigMap' });
export const pinned = anImage(`example.com/app@sha256:${'12'.repeat(32)}`);

/** A Bundle with its finalizer. */
export function aKeptBundle(fields: Parameters<typeof aStoredBundle>[0] = {}): Bundle {
  const metadata = { finalizers: [finalizer.deleteCachedBundle], ...fields.metadata };
  return aStoredBundle({ ...fields, metadata });
}

export interface MindsUnserved {
  /** Whether this process ends deletions of classes that no process serves. */
  readonly endsUnserved?: boolean;
}

/** A Bundle reconciler among fakes: one source of type image, one class `plain`. */
export class BundleFixture {
  readonly client = new FakeKubeClient();
  readonly cache = new IndexedCache<Bundle>();
  readonly store = new MemoryStore();
  readonly events = new EventList();
  readonly clock = new ManualClock();
  readonly stop = new AbortController();
  /** The stop's beginning; `stop` is its end. */
  readonly stopping = new AbortController();
  /** The one that controllers make for each reconcile. */
  readonly logger = { ...silentLogger };
  readonly fetch = vi.fn<Source['fetch']>(async () => ({ files: tree, resolvedSource: pinned }));
  readonly handler = vi.fn<BundleHandler>(async (files) => files);
  readonly #reconciler: BundleReconciler;

  constructor(
    bundle: Bundle,
    { endsUnserved = false, ...replaced }: Partial<BundleDependencies> & MindsUnserved = {},
  ) {
    this.change(bundle);
    const { client, events, clock } = this;
    const kind = { client, resource: bundleResource, classes: new Map(), events, clock };
    this.#reconciler = new BundleReconciler({
      client: this.client,
      cache: this.cache,
      sources: onlySource('image', this.fetch),
      provisioners: new Map([['plain', { className: 'plain', bundle: this.handler }]]),
      store: this.store,
      release: (released) => this.store.delete(storedContentKey(released)),
      takeBack: async () => false,
      uploads: undefined,
      secrets: { of: () => ({ read: async () => undefined }), identityOf: () => '' },
      configMaps: { namespace: 'system', read: async () => undefined },
      limits: defaultLimits,
      creatorOf: ({ metadata }) => metadata.name ?? '',
      addressOf: async (host) => host,
      memory: ampleMemory(),
      slots: new UnpackSlots({ slots: 8, clock: this.clock }),
      fetches: new SharedFetches(),
      events: this.events,
      clock: this.clock,
      logger: silentLogger,
      unserved: endsUnserved ? new UnservedObjects(kind) : undefined,
      ...replaced,
    });
  }

  /** Stores the Bundle as another client would, and lets the cache see it. */
  change(bundle: Bundle): void {
    this.cache.upsert(this.client.put(bundle) as Bundle);
  }

  async reconcile(name = 'demo'): Promise<{ requeueAfter: number } | undefined> {
    const signals = { signal: this.stop.signal, stopping: this.stopping.signal };
    return await this.#reconciler.reconcile(name, { ...signals, logger: this.logger });
  }

  /** Tells of a deletion, as the watch does. */
  abandon(name = 'demo'): void {
    this.#reconciler.abandon(name);
  }

  /** The error of a reconcile; undefined after a success. */
  async failure(): Promise<unknown> {
    try {
      await this.reconcile();
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** The Bundle in the API server. */
  get live(): Bundle {
    const bundle = this.client.peek({ name: 'demo' });
    if (bundle === undefined) throw new Error('the Bundle is gone');
    return bundle as Bundle;
  }

  /** The Bundle in the API server, without the conditions that summarize the others. */
  get status(): BundleStatus {
    return withoutSummary(this.live.status ?? {});
  }

  /** `<type> <status> <reason>: <message>` of those: Ready, Reconciling and Stalled. */
  get summary(): string[] {
    return conditionLines(this.live.status?.conditions?.filter(isSummary));
  }

  /** The phases that were written, in order. */
  get phases(): (string | undefined)[] {
    return this.client.patches
      .filter(({ options }) => options.subresource === 'status')
      .map(({ patch }) => (patch as [unknown, { value: { phase?: string } }])[1].value.phase);
  }
}
