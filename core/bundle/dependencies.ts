import type { Bundle, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { ConfigMapReader, Source } from '../contracts/source.ts';
import type { ContentKey, ContentStore } from '../contracts/store.ts';
import type { UnservedDeletions } from '../contracts/unserved-deletions.ts';
import type { UploadStore } from '../contracts/upload-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { UnpackMetrics } from '../platform/observe/index.ts';
import type { ByteBudget } from '../platform/runtime/index.ts';
import type { FetchedContent, OwnFetch } from './shared-fetches.ts';
import type { SourceSecrets } from './source-secrets.ts';
import type { ClassPlaces, UnpackSlot } from './unpack-slots.ts';

/** Read and write access to the Bundles that the watch cache holds. */
export interface BundleCache {
  get(key: { readonly name: string }): Bundle | undefined;
  /** Takes the server's answer to our own write, so that the next reconcile starts from it. */
  upsertIfNewer(bundle: Bundle): void;
}

/** What unpacking works with: it neither reads nor writes Bundles. */
export interface UnpackDependencies extends ClassPlaces {
  /** By spec.source.type. */
  readonly sources: ReadonlyMap<string, Source>;
  /** By class name; only classes with a bundle handler. */
  readonly provisioners: ReadonlyMap<string, Provisioner>;
  /** On whose behalf a Bundle is unpacked: creators share what can be done at once. */
  readonly creatorOf: (bundle: Bundle) => string;
  /** Of the machine that a server's name stands for. */
  readonly addressOf: (host: string) => Promise<string>;
  readonly store: ContentStore;
  /** Removes what is stored of a Bundle that is gone or goes; what is installed is kept. */
  readonly release: (bundle: Bundle) => Promise<void>;
  /** Absent where this process takes no uploads. */
  readonly uploads?: Pick<UploadStore, 'delete'> | undefined;
  readonly secrets: Pick<SourceSecrets, 'of' | 'identityOf'>;
  readonly configMaps: ConfigMapReader;
  readonly limits: ContentLimits;
  /** What all content takes together, with the worker processes. */
  readonly memory: Pick<ByteBudget, 'open'>;
  readonly unpackMetrics?: Pick<UnpackMetrics, 'ended' | 'phaseEnded' | 'fetched'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What the Bundle reconciler works with. */
export interface BundleDependencies extends UnpackDependencies {
  readonly client: KubeClient;
  readonly cache: BundleCache;
  /** Deletions of classes that no process serves (default: another process ends them). */
  readonly unserved?: UnservedDeletions | undefined;
  readonly events: EventSink;
}

/** What one reconcile of a Bundle has found out so far. */
export interface BundleState {
  /** As last read from or written to the API server. */
  bundle: Bundle;
  /** The status to write at the end. */
  status: BundleStatus;
  /** Held from the fetch to the end of the unpacking. */
  slot?: UnpackSlot;
  /** Where the content is for this Bundle to fetch, and not for another one. */
  ownFetch?: OwnFetch;
  fetched?: FetchedContent;
  converted?: BundleFiles;
  /** What takes its time now, as a clause. */
  doing?: string;
}

export interface StepContext {
  readonly signal: AbortSignal;
  /** Aborted when the process begins to stop: what waits to begin ends. */
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}

/** `done` ends the reconcile; the status is written either way. */
export type StepOutcome = 'continue' | 'done';

/** Where a Bundle's content is stored. */
export function storedContentKey(bundle: Bundle): ContentKey {
  return { name: bundle.metadata.name ?? '', uid: bundle.metadata.uid ?? '' };
}
