import { ContentRestorer, type UnpackDependencies } from '../bundle/index.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { Metrics } from '../platform/observe/index.ts';
import type { Runnable } from '../platform/runtime/index.ts';
import {
  DiskStore,
  type KeptArchives,
  type OnLeftover,
  type ServedBundles,
} from '../store/index.ts';
import { createArchiveCleaner } from './archive-cleaner.ts';
import { keptArchives } from './kept-archives.ts';
import type { Kinds } from './kinds.ts';
import { createServedBundles } from './served-bundles.ts';
import type { ManagerSettings } from './settings.ts';
import { type OwnPlacesByClass, unpackDependencies } from './unpacking.ts';
import { createUploads, type Uploads } from './uploads.ts';

export interface UnpackingZoneParts {
  readonly client: KubeClient;
  readonly kinds: Kinds;
  readonly events: EventSink;
  readonly metrics: Metrics;
  readonly ownPlaces: OwnPlacesByClass;
  readonly onLeftover: OnLeftover;
  readonly clock: Clock;
  /** The life of the process. */
  readonly signal: AbortSignal;
}

/** All that touches what strangers wrote before it is stored: the store, what fills it, and uploads. */
export interface UnpackingZone {
  readonly store: DiskStore;
  /** Of Bundles that are gone while their content is installed. */
  readonly kept: KeptArchives;
  readonly dependencies: UnpackDependencies;
  /** What the content server gives out. */
  readonly bundles: ServedBundles;
  readonly uploads: Uploads | undefined;
  /** Remove what no Bundle needs any more; in every replica. */
  readonly cleaners: readonly Runnable[];
  /** The same for what replicas share; in the leader. */
  readonly sharedCleaners: readonly Runnable[];
}

export function createUnpackingZone(
  settings: ManagerSettings,
  parts: UnpackingZoneParts,
): UnpackingZone {
  const { kinds, onLeftover } = parts;
  const store = new DiskStore({ ...settings.content, limits: settings.limits, onLeftover });
  const kept = keptArchives(settings, { store, kinds, onLeftover });
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
    kept,
    dependencies,
    bundles: createServedBundles(kinds, restorer),
    uploads,
    cleaners: areShared ? [archives] : [archives, ...collectors],
    sharedCleaners: areShared ? collectors : [],
  };
}
