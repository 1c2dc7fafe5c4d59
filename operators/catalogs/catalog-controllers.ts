import type { AddressInfo } from 'node:net';
import {
  aborted,
  CatalogServerMetrics,
  type Clock,
  Controller,
  type ControllerMetrics,
  createSecretReader,
  type EventSink,
  errorMessage,
  IndexedCache,
  type KubeClient,
  keyOf,
  type Logger,
  Reflector,
  type Runnable,
  reflectorRunnable,
  Semaphore,
  type TlsFiles,
} from '../../core/controller.ts';
import type { RegistryAccess } from '../../core/registry/index.ts';
import type { CatalogContents } from './catalog-contents.ts';
import { CatalogFetcher, type FetcherOptions } from './content/catalog-fetcher.ts';
import { ContentStore } from './content/content-store.ts';
import { catalogAdapter } from './kinds/catalog.ts';
import type { CatalogKindAdapter } from './kinds/catalog-kind.ts';
import { clusterCatalogAdapter } from './kinds/cluster-catalog.ts';
import { type CatalogParts, CatalogReconciler } from './reconcile/catalog-reconciler.ts';
import type { PackageResolver } from './resolution/package-resolver.ts';
import { ServedResolver } from './resolution/served-resolver.ts';
import { catalogServer } from './serving/catalog-server.ts';
import { ServedCatalogs } from './serving/served-catalogs.ts';
import { CatalogImages } from './source/catalog-image.ts';
import type { UnpackLimits } from './unpack/unpack-catalog.ts';
import { unpackInProcess } from './unpack/unpack-process.ts';

export interface CatalogControllersOptions {
  readonly client: KubeClient;
  /** With the settings for registries, and the policies for images. */
  readonly registry: RegistryAccess;
  /** Namespace of the pull secrets. */
  readonly systemNamespace: string;
  /** Directory of this process alone; a restart finds its content there. */
  readonly cacheDir: string;
  /** Base URL of the content server for clients, without a slash at the end. */
  readonly externalAddress: string;
  /** Where the content server listens; without a host, on all addresses. */
  readonly address: { readonly host?: string; readonly port: number };
  /** Serves HTTPS; without, plain HTTP. */
  readonly tls?: TlsFiles | undefined;
  /** Milliseconds between two removals of content without an object. */
  readonly gcInterval: number;
  /** Overrides of the limits of one catalog. */
  readonly limits?: Partial<CatalogLimits>;
  /** Unpacks a downloaded image (default: in a process of its own). */
  readonly unpack?: FetcherOptions['unpack'] | undefined;
  readonly events: EventSink;
  readonly metrics?: ControllerMetrics | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface CatalogLimits extends UnpackLimits {
  /** Maximum bytes of all layers of an image, compressed. */
  readonly maxImageBytes: number;
  /** Maximum milliseconds to unpack a catalog. */
  readonly unpackTimeout: number;
  /** Maximum megabytes of the JavaScript objects of the process that unpacks it. */
  readonly unpackMegabytes: number;
}

const mebibyte = 1024 * 1024;
const defaultLimits: CatalogLimits = {
  maxImageBytes: 1024 * mebibyte,
  maxBytes: 2048 * mebibyte,
  maxFileBytes: 256 * mebibyte,
  maxBlobs: 50_000,
  maxNameBytes: 4 * mebibyte,
  unpackTimeout: 10 * 60_000,
  unpackMegabytes: 512,
};
const timeouts = { resolve: 5 * 60_000, download: 60 * 60_000 };
/** Catalogs that are unpacked at the same time, each in a process of its own. */
const unpackedAtOnce = 2;

export interface CatalogControllers {
  /** What the cluster's catalogs have, for controllers of extensions. */
  readonly contents: CatalogContents;
  /** Resolves packages of them without holding the event loop. */
  readonly resolver: PackageResolver;
  /** Watches, to start first. */
  readonly reflectors: readonly Runnable[];
  /** The content server, and the controllers that bring content to this replica; on every replica. */
  readonly runnables: readonly Runnable[];
  /** Polls and writes statuses while it runs; on the leader. */
  readonly leader: Runnable;
  /** The address of the content server, once it listens. */
  readonly listening: Promise<AddressInfo>;
  /** @throws Error while the objects have not been read */
  checkSynced(): void;
}

/** Controllers of Catalogs and ClusterCatalogs. */
export function catalogControllers(options: CatalogControllersOptions): CatalogControllers {
  const { cacheDir, clock, logger } = options;
  const served = new ServedCatalogs(clock);
  const resolver = new ServedResolver(served, { directory: cacheDir, clock });
  const store = new ContentStore(cacheDir);
  let isLeading = false;
  const parts = createParts(options, { served, store, isLeading: () => isLeading });
  const kinds = [catalogAdapter, clusterCatalogAdapter].map((adapter) =>
    kindController(options, { ...parts, adapter }),
  );
  served.damaged.onFound(({ kind, name }) => {
    logger.warn({ kind, name }, 'the stored content is damaged and is fetched again');
    kinds.find(({ adapter }) => adapter.kind === kind)?.controller.enqueue(name);
  });
  const server = catalogServer({
    ...options,
    metrics: options.metrics && new CatalogServerMetrics(options.metrics.registry),
    find: (requested) => served.find(requested),
  });
  const enqueueAll = (): void => {
    for (const kind of kinds) kind.enqueueAll();
  };
  return {
    contents: served,
    resolver,
    reflectors: kinds.map(({ reflector, adapter }) =>
      reflectorRunnable(`${adapter.kind} watch`, reflector),
    ),
    runnables: [
      server.runnable,
      {
        name: 'catalogs',
        async run(signal) {
          await store.prepare();
          const collecting = collect(signal, options, { store, kinds });
          await Promise.all([collecting, ...kinds.map((kind) => kind.controller.run(signal))]);
          await Promise.all([served.close(), resolver.close()]);
        },
      },
    ],
    leader: {
      name: 'catalogs as leader',
      async run(signal) {
        isLeading = true;
        enqueueAll();
        await aborted(signal);
        isLeading = false;
        logger.debug({}, 'catalogs are followed only');
      },
    },
    listening: server.listening,
    checkSynced() {
      const missing = kinds.find(({ reflector }) => !reflector.synced);
      if (missing !== undefined) throw new Error(`${missing.adapter.kind}s have not been read yet`);
    },
  };
}

type OwnParts = Pick<CatalogParts, 'served' | 'store' | 'isLeading'>;

function createParts(options: CatalogControllersOptions, own: OwnParts): CatalogParts {
  const { client, registry, systemNamespace, events, clock, logger } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const secrets = createSecretReader(client, systemNamespace);
  const maxBytes = limits.maxImageBytes;
  const images = new CatalogImages({ registry, secrets, maxBytes, timeouts, logger });
  const process = { memoryMegabytes: limits.unpackMegabytes, timeout: limits.unpackTimeout, clock };
  const fetcher = new CatalogFetcher({
    images,
    store: own.store,
    unpack: options.unpack ?? ((job, stop) => unpackInProcess(job, process, stop)),
    limits,
    places: new Semaphore(unpackedAtOnce),
    now: () => clock.now(),
  });
  return { ...own, client, images, fetcher, events, address: options.externalAddress, clock };
}

interface KindController {
  readonly adapter: CatalogKindAdapter;
  readonly cache: IndexedCache;
  readonly reflector: Reflector;
  readonly controller: Controller;
  enqueueAll(): void;
}

function kindController(
  { client, metrics, clock, logger }: CatalogControllersOptions,
  { adapter, ...parts }: CatalogParts & { readonly adapter: CatalogKindAdapter },
): KindController {
  const { kind, resource } = adapter;
  const cache = new IndexedCache();
  const reflector = new Reflector({ client, resource, sink: cache, clock, logger });
  const reconciler = new CatalogReconciler({ ...parts, adapter, cache });
  const controller = new Controller({
    name: kind.toLowerCase(),
    kind,
    // A slow registry delays no other catalog: downloads hold little, and unpacking has its places.
    workers: Number.POSITIVE_INFINITY,
    reconcile: (name, context) => reconciler.reconcile(name, context),
    clock,
    logger,
    metrics,
  });
  cache.onChange(({ type, object }) => {
    const { name = '' } = object.metadata;
    if (type === 'added') parts.served.note(identityOf(adapter, object));
    reconciler.changed(object);
    controller.enqueue(name);
  });
  return {
    adapter,
    cache,
    reflector,
    controller,
    enqueueAll: () => cache.list().forEach((object) => controller.enqueue(keyOf(object).name)),
  };
}

function identityOf(adapter: CatalogKindAdapter, object: Parameters<typeof keyOf>[0]) {
  const { labels, priority } = adapter.read(object);
  return { kind: adapter.kind, name: keyOf(object).name, labels, priority };
}

/** Removes content without an object, at the start and at each interval. */
async function collect(
  signal: AbortSignal,
  { gcInterval, clock, logger }: CatalogControllersOptions,
  { store, kinds }: { readonly store: ContentStore; readonly kinds: readonly KindController[] },
): Promise<void> {
  while (!signal.aborted) {
    try {
      const removed = await store.collect(({ kind, name }) =>
        kinds.some(({ adapter, cache }) => adapter.kind === kind && cache.get({ name })),
      );
      for (const { kind, name } of removed) logger.info({ kind, name }, 'removed unused content');
    } catch (error) {
      logger.warn({ error: errorMessage(error) }, 'unused content has not been removed');
    }
    await clock.sleep(gcInterval, signal).catch(() => undefined);
  }
}
