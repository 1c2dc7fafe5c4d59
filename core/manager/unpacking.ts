import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import {
  type OwnPlaces,
  SharedFetches,
  SourceSecrets,
  type UnpackDependencies,
  UnpackSlots,
} from '../bundle/index.ts';
import { creatorOfBundle } from '../bundle-deployment/index.ts';
import type { SecretReader } from '../contracts/source.ts';
import type { ContentStore } from '../contracts/store.ts';
import type { Clock } from '../platform/clock.ts';
import {
  createConfigMapReader,
  createSecretReader,
  type KubeClient,
} from '../platform/kube/index.ts';
import { HostAddresses } from '../platform/net/index.ts';
import type { Metrics } from '../platform/observe/index.ts';
import { FairSemaphore } from '../platform/runtime/index.ts';
import { createUploadSource } from '../sources/index.ts';
import type { KeptArchives } from '../store/index.ts';
import { classesWith } from './class-index.ts';
import type { Kinds } from './kinds.ts';
import type { ManagerSettings } from './settings.ts';
import { sourceAccount } from './source-account.ts';
import type { Uploads } from './uploads.ts';

/** By class name, of classes whose objects take no workers of others. */
export type OwnPlacesByClass = ReadonlyMap<string, OwnPlaces>;

export interface UnpackingParts {
  readonly client: KubeClient;
  readonly kinds: Pick<Kinds, 'deployments'>;
  readonly store: ContentStore;
  readonly kept: Pick<KeptArchives, 'release'>;
  readonly uploads: Uploads | undefined;
  readonly metrics: Metrics;
  readonly ownPlaces: OwnPlacesByClass;
  readonly clock: Clock;
}

/** What this process unpacks with, once: its slots bound the reconciler and the restorer together. */
export function unpackDependencies(
  settings: ManagerSettings,
  parts: UnpackingParts,
): UnpackDependencies {
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
    slots: new UnpackSlots({ slots: workers, clock }),
    fetches: new SharedFetches(),
    ownPlaces,
    secrets: new SourceSecrets({
      sources: byType,
      system: createSecretReader(client, systemNamespace),
      as: (account) => accountReader(client, account),
      accountOf: (bundle) => sourceAccount(bundle, deployments),
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
  // One more than a creator can use: it finds its way to the class whatever others do there.
  const workers = new FairSemaphore({ places: size + 1 });
  const slots = new UnpackSlots({ slots: size, active: workers, clock });
  return { workers, slots, fetches: new SharedFetches() };
}

function accountReader(client: KubeClient, account: ServiceAccountRef): SecretReader {
  const { namespace } = account;
  return createSecretReader(client.impersonate(account), namespace, `namespace "${namespace}"`);
}
