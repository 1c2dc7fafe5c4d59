import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import type { UnpackDependencies } from '../bundle/dependencies.ts';
import { SharedFetches } from '../bundle/shared-fetches.ts';
import { SourceSecrets } from '../bundle/source-secrets.ts';
import type { OwnPlaces } from '../bundle/unpack-places.ts';
import { UnpackSlots } from '../bundle/unpack-slots.ts';
import { creatorOfBundle } from '../bundle-deployment/creator-of-bundle.ts';
import type { Clock } from '../clock.ts';
import type { SecretReader } from '../contracts/source.ts';
import type { ContentStore } from '../contracts/store.ts';
import { createConfigMapReader } from '../kube/config-map-reader.ts';
import type { KubeClient } from '../kube/kube-client.ts';
import { createSecretReader } from '../kube/secret-reader.ts';
import { HostAddresses } from '../net/host-addresses.ts';
import type { Metrics } from '../observe/metrics.ts';
import { FairSemaphore } from '../runtime/fair-semaphore.ts';
import { createUploadSource } from '../sources/upload/index.ts';
import type { KeptArchives } from '../store/kept-archives.ts';
import { classesWith } from './class-index.ts';
import type { Kinds } from './kinds.ts';
import type { ManagerSettings } from './settings.ts';
import { sourceAccount } from './source-account.ts';
import type { Uploads } from './uploads.ts';

export interface UnpackingParts {
  readonly client: KubeClient;
  readonly kinds: Pick<Kinds, 'deployments'>;
  readonly store: ContentStore;
  readonly kept: Pick<KeptArchives, 'release'>;
  readonly uploads: Uploads | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

/** What this process unpacks with, once: its slots bound the reconciler and the restorer together. */
export function unpackDependencies(
  settings: ManagerSettings,
  { client, kinds: { deployments }, store, kept, uploads, metrics, clock }: UnpackingParts,
): UnpackDependencies {
  const { sources, provisioners, limits, workers, memory, ownWorkers } = settings;
  const { systemNamespace, logger } = settings;
  const addresses = new HostAddresses({ clock });
  const all = [...sources, ...(uploads === undefined ? [] : [createUploadSource(uploads.store)])];
  return {
    sources: new Map(all.map((source) => [source.type, source])),
    provisioners: classesWith(provisioners, 'bundle'),
    creatorOf: (bundle) => creatorOfBundle(bundle, deployments),
    addressOf: (host) => addresses.of(host),
    store,
    release: (bundle) => kept.release(bundle),
    slots: new UnpackSlots({ slots: workers, clock }),
    fetches: new SharedFetches(),
    ownPlaces: new Map(
      Array.from(ownWorkers ?? [], ([className, size]) => [className, ownPlaces(size, clock)]),
    ),
    secrets: new SourceSecrets({
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

function ownPlaces(size: number, clock: Clock): OwnPlaces {
  // One more than a creator can use: it finds its way to the class whatever others do there.
  const workers = new FairSemaphore({ places: size + 1 });
  const slots = new UnpackSlots({ slots: size, active: workers, clock });
  return { workers, slots, fetches: new SharedFetches() };
}

function accountReader(client: KubeClient, account: ServiceAccountRef): SecretReader {
  const { namespace } = account;
  return createSecretReader(client.impersonate(account), namespace, `namespace "${namespace}"`);
}
