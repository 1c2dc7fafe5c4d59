import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import {
  ContentRestorer,
  SharedFetches,
  SourceSecrets,
  type UnpackDependencies,
  UnpackSlots,
} from '../../bundle/index.ts';
import { creatorOfBundle, sourceReader } from '../../bundle-deployment/index.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { SecretReader } from '../../contracts/source.ts';
import type { ContentStore } from '../../contracts/store.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  createConfigMapReader,
  createSecretReader,
  type KubeClient,
} from '../../platform/kube/index.ts';
import { HostAddresses } from '../../platform/net/index.ts';
import type { Metrics } from '../../platform/observe/index.ts';
import { type Runnable } from '../../platform/runtime/index.ts';
import { createUploadSource } from '../../sources/index.ts';
import {
  type ArchiveSpace,
  DiskStore,
  type KeptArchives,
  type OnLeftover,
  type ServedBundles,
} from '../../store/index.ts';
import { classesWith, type OwnPlacesByClass } from '../classes.ts';
import type { Kinds } from '../kinds/kinds.ts';
import type { ManagerSettings } from '../settings.ts';
import { archiveSpace, createArchiveCleaner, isCurrent, keptArchives } from './archives.ts';
import { createServedBundles } from './content-server.ts';
import { createUploads, type Uploads } from './uploads.ts';

interface UnpackingZoneParts {
  readonly client: KubeClient;
  readonly kinds: Kinds;
  readonly events: EventSink;
  readonly metrics: Metrics;
  readonly ownPlaces: OwnPlacesByClass;
  readonly onLeftover: OnLeftover;
  readonly clock: Clock;
  /** Aborted when the process ends. */
  readonly signal: AbortSignal;
}

/**
 * All parts that handle untrusted content before it is stored: the store, unpacking, and uploads.
 */
export interface UnpackingZone {
  readonly store: DiskStore;
  /** Undefined without a bound of archives. */
  readonly space: ArchiveSpace | undefined;
  /** Archives of Bundles that were deleted while their content is installed. */
  readonly kept: KeptArchives;
  readonly dependencies: UnpackDependencies;
  /** The Bundles for the content server. */
  readonly bundles: ServedBundles;
  readonly uploads: Uploads | undefined;
  /** Delete content that no Bundle needs any more; in every replica. */
  readonly cleaners: readonly Runnable[];
  /** Delete shared content that no Bundle needs any more; in the leader only. */
  readonly sharedCleaners: readonly Runnable[];
}

export function createUnpackingZone(
  settings: ManagerSettings,
  parts: UnpackingZoneParts,
): UnpackingZone {
  const { kinds, onLeftover } = parts;
  const { content, limits } = settings;
  const space = archiveSpace(content, parts);
  const store = new DiskStore({
    ...content,
    limits,
    onLeftover,
    space,
    isCurrent: (key) => isCurrent(key, kinds),
  });
  const kept = keptArchives(settings, { store, kinds, space, onLeftover });
  const uploads = createUploads(settings, parts);
  const dependencies = unpackDependencies(settings, { ...parts, store, kept, uploads });
  const restorer = new ContentRestorer({ ...dependencies, ...parts, cache: kinds.bundles });
  kinds.bundles.onChange(({ type, object: { metadata } }) => {
    const isDeleted = type === 'deleted' || metadata.deletionTimestamp !== undefined;
    if (isDeleted) restorer.abandon(metadata.uid ?? '');
  });
  const archives = createArchiveCleaner({ store, kept }, kinds, onLeftover);
  const collectors = uploads === undefined ? [] : [uploads.collector];
  const areShared = uploads?.shared === true;
  return {
    store,
    space,
    kept,
    dependencies,
    bundles: createServedBundles(kinds, restorer),
    uploads,
    cleaners: areShared ? [archives] : [archives, ...collectors],
    sharedCleaners: areShared ? collectors : [],
  };
}

interface UnpackParts {
  readonly client: KubeClient;
  readonly kinds: Pick<Kinds, 'deployments'>;
  readonly store: ContentStore;
  readonly kept: Pick<KeptArchives, 'release' | 'giveBack'>;
  readonly uploads: Uploads | undefined;
  readonly metrics: Metrics;
  readonly ownPlaces: OwnPlacesByClass;
  readonly clock: Clock;
}

/**
 * The dependencies of unpacking, created once: their slots limit the reconciler and the restorer
 * together.
 */
function unpackDependencies(settings: ManagerSettings, parts: UnpackParts): UnpackDependencies {
  const { client, kinds, store, kept, uploads, metrics, ownPlaces, clock } = parts;
  const { deployments } = kinds;
  const { sources, provisioners, limits, workers, memory, systemNamespace, logger } = settings;
  const addresses = new HostAddresses({ clock });
  const all = [...sources, ...(uploads === undefined ? [] : [createUploadSource(uploads.store)])];
  const byType = new Map(all.map((source) => [source.type, source]));
  return {
    sources: byType,
    provisioners: classesWith(provisioners, 'bundle'),
    creatorOf: (bundle) => creatorOfBundle(bundle, deployments),
    addressOf: (host) => addresses.of(host),
    store,
    release: (bundle) => kept.release(bundle),
    takeBack: (key) => kept.giveBack(key),
    uploads: uploads?.store,
    slots: new UnpackSlots({ slots: workers, clock }),
    fetches: new SharedFetches(),
    ownPlaces,
    secrets: new SourceSecrets({
      sources: byType,
      system: createSecretReader(client, systemNamespace),
      as: (account) => accountReader(client, account),
      readerOf: (bundle) => sourceReader(bundle, deployments),
      allowUnscoped: settings.allowUnscopedSourceSecrets,
    }),
    configMaps: createConfigMapReader(client, systemNamespace),
    limits,
    memory,
    unpackMetrics: metrics.unpacking,
    clock,
    logger,
  };
}

function accountReader(client: KubeClient, account: ServiceAccountRef): SecretReader {
  const { namespace } = account;
  return createSecretReader(client.impersonate(account), namespace, `namespace "${namespace}"`);
}
