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

export interface UnpackingParts {
  readonly client: KubeClient;
  readonly store: ContentStore;
  readonly uploads: Uploads | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** What this process unpacks with, once: its slots bound the reconciler and the restorer together. */
export function unpackDependencies(
  settings: ManagerSettings,
  { client, store, uploads, metrics, clock }: UnpackingParts,
): UnpackDependencies {
  const { sources, provisioners, limits, workers, memory, ownWorkers } = settings;
  const { systemNamespace, logger } = settings;
  const all = [...sources, ...(uploads === undefined ? [] : [createUploadSource(uploads.store)])];
  return {
    sources: new Map(all.map((source) => [source.type, source])),
    provisioners: classesWith(provisioners, 'bundle'),
    store,
    slots: new UnpackSlots({ slots: workers, clock }),
    fetches: new SharedFetches(),
    ownPlaces: new Map(
      Array.from(ownWorkers ?? [], ([className, size]) => [className, ownPlaces(size, clock)]),
    ),
    secrets: createSecretReader(client, systemNamespace),
    configMaps: createConfigMapReader(client, systemNamespace),
    limits,
    memory,
    unpackMetrics: metrics.unpacking,
    clock,
    logger,
  };
}

function ownPlaces(size: number, clock: Clock): OwnPlaces {
  const workers = new Semaphore(size);
  const slots = new UnpackSlots({ slots: size, active: workers, clock });
  return { workers, slots, fetches: new SharedFetches() };
}
