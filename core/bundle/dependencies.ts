import type { Bundle, BundleStatus } from '../../api/v1alpha1/bundle.ts';
import { notedPin } from '../../api/v1alpha1/rules/upload-pin.ts';
import type { BundleFiles, ContentLimits } from '../contracts/bundle-files.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { Logger } from '../contracts/logger.ts';
import type { Provisioner } from '../contracts/provisioner.ts';
import type { ConfigMapReader, Source } from '../contracts/source.ts';
import type { ContentStore, PinnedKey } from '../contracts/store.ts';
import type { UnservedDeletions } from '../contracts/unserved-deletions.ts';
import type { UploadStore } from '../contracts/upload-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { UnpackMetrics } from '../platform/observe/index.ts';
import type { ByteBudget, MemoryShare } from '../platform/runtime/index.ts';
import type { FetchedContent, OwnFetch } from './fetch/shared-fetches.ts';
import type { SourceSecrets } from './fetch/source-secrets.ts';
import type { ClassPlaces, UnpackSlot } from './fetch/unpack-slots.ts';

/** Read and write access to the Bundles in the watch cache. */
export interface BundleCache {
  get(key: { readonly name: string }): Bundle | undefined;
  /** Stores the response to an own write, so that the next reconcile starts from it. */
  upsertIfNewer(bundle: Bundle): void;
}

/** The dependencies of unpacking, which neither reads nor writes Bundles. */
export interface UnpackDependencies extends ClassPlaces {
  /** By spec.source.type. */
  readonly sources: ReadonlyMap<string, Source>;
  /** By class name; only classes with a bundle handler. */
  readonly provisioners: ReadonlyMap<string, Provisioner>;
  /** The creator for whom a Bundle is unpacked: creators share the concurrent places. */
  readonly creatorOf: (bundle: Bundle) => string;
  /** Address of the machine behind a server's name. */
  readonly addressOf: (host: string) => Promise<string>;
  readonly store: ContentStore;
  /** Deletes the stored content of a deleted Bundle, unless it is installed. */
  readonly release: (bundle: Bundle) => Promise<void>;
  /**
   * Stores the content again that stayed installed when its Bundle was deleted; false when there is
   * none for this name, UID and pin.
   */
  readonly takeBack: (key: PinnedKey) => Promise<boolean>;
  /** Undefined when this process accepts no uploads. */
  readonly uploads: Pick<UploadStore, 'delete' | 'digest'> | undefined;
  readonly secrets: Pick<SourceSecrets, 'of' | 'identityOf'>;
  readonly configMaps: ConfigMapReader;
  readonly limits: ContentLimits;
  /** Budget for the memory of all content and worker processes. */
  readonly memory: Pick<ByteBudget, 'open'>;
  readonly unpackMetrics?: Pick<UnpackMetrics, 'ended' | 'phaseEnded' | 'fetched'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The dependencies of the Bundle reconciler. */
export interface BundleDependencies extends UnpackDependencies {
  readonly client: KubeClient;
  readonly cache: BundleCache;
  /** Deletions of classes that no process serves (default: another process handles them). */
  readonly unserved?: UnservedDeletions | undefined;
  readonly events: EventSink;
}

/** The findings of one reconcile of a Bundle so far. */
export interface BundleState {
  /** As last read from or written to the API server. */
  bundle: Bundle;
  /** The status to write at the end. */
  status: BundleStatus;
  /** Held from the fetch to the end of the unpacking. */
  slot?: UnpackSlot;
  /** Set when this Bundle must fetch the content itself. */
  ownFetch?: OwnFetch;
  fetched?: FetchedContent;
  /** Of the fetched files, or of the upload: the pin of content that has no other name. */
  digest?: string | undefined;
  converted?: BundleFiles;
  /** Of what the class has returned, beyond that of `fetched`. */
  resultMemory?: Pick<MemoryShare, 'release'>;
  /** Called before the converted content is stored. */
  confirm?: () => Promise<unknown>;
  /** The present slow work, as a clause. */
  doing?: string;
}

export interface StepContext {
  readonly signal: AbortSignal;
  /** Aborted when the process begins to stop: waiting steps end. */
  readonly stopping: AbortSignal;
  readonly logger: Logger;
}

/** `done` ends the reconcile; the status is written in either case. */
export type StepOutcome = 'continue' | 'done';

/** The key of a Bundle's stored content. */
export function storedContentKey(bundle: Bundle): PinnedKey {
  const { name = '', uid = '' } = bundle.metadata;
  return { name, uid, pin: notedPin(bundle) };
}
