import type { UnpackDependencies } from '../bundle/dependencies.ts';
import { SharedFetches } from '../bundle/shared-fetches.ts';
import type { OwnPlaces } from '../bundle/unpack-places.ts';
import { UnpackSlots } from '../bundle/unpack-slots.ts';
import type { Clock } from '../clock.ts';
import type { ContentStore } from '../contracts/store.ts';
import { createConfigMapReader } from '../kube/config-map-reader.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import { createSecretReader } from '../kube/secret-reader.ts';
import type { Metrics } from '../observe/metrics.ts';
import { Semaphore } from '../runtime/semaphore.ts';
import { createUploadSource } from '../sources/upload/index.ts';
import { classesWith } from './class-index.ts';
import type { ManagerSettings } from './settings.ts';
import type { Uploads } from './uploads.ts';

/** By class name, of classes whose objects take no workers of others. */
export type OwnPlacesByClass = ReadonlyMap<string, OwnPlaces>;

export interface UnpackingParts {
  readonly client: KubeClient;
  readonly store: ContentStore;
  readonly uploads: Uploads | undefined;
  readonly metrics: Metrics;
  readonly ownPlaces: OwnPlacesByClass;
  readonly clock: Clock;
}

/** What this process unpacks with, once: its slots bound the reconciler and the restorer together. */
export function unpackDependencies(
  settings: ManagerSettings,
  { client, store, uploads, metrics, ownPlaces, clock }: UnpackingParts,
): UnpackDependencies {
  const { sources, provisioners, limits, workers, systemNamespace, logger } = settings;
  const all = [...sources, ...(uploads === undefined ? [] : [createUploadSource(uploads.store)])];
  return {
    sources: new Map(all.map((source) => [source.type, source])),
    provisioners: classesWith(provisioners, 'bundle'),
    store,
    slots: new UnpackSlots({ slots: workers, clock }),
    fetches: new SharedFetches(),
    ownPlaces,
    secrets: createSecretReader(client, systemNamespace),
    configMaps: createConfigMapReader(client, systemNamespace),
    limits,
    unpackMetrics: metrics.unpacking,
    clock,
    logger,
  };
}

/** Objects of both kinds share them. */
export function createOwnPlaces(
  { ownWorkers = new Map() }: Pick<ManagerSettings, 'ownWorkers'>,
  clock: Clock,
): OwnPlacesByClass {
  return new Map(
    Array.from(ownWorkers, ([className, size]) => [className, placesOf(size, clock)] as const),
  );
}

function placesOf(size: number, clock: Clock): OwnPlaces {
  const workers = new Semaphore(size);
  const slots = new UnpackSlots({ slots: size, active: workers, clock });
  return { workers, slots, fetches: new SharedFetches() };
}
