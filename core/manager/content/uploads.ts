import { existsSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RequestHandler } from 'express';
import { announceUpload, claimUpload, findBundle } from '../../bundle/index.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { ContentKey } from '../../contracts/store.ts';
import type { UploadStore } from '../../contracts/upload-store.ts';
import { errorMessage } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { KubeClient } from '../../platform/kube/index.ts';
import type { Runnable } from '../../platform/runtime/index.ts';
import {
  ClusterUploads,
  createUploadHandler,
  DirectoryUploads,
  type OnLeftover,
  prepareDirectory,
  UndeletedFilesError,
} from '../../store/index.ts';
import type { Kinds } from '../kinds/kinds.ts';
import type { UploadOptions } from '../options.ts';
import type { ManagerSettings } from '../settings.ts';

export interface Uploads {
  readonly store: UploadStore;
  /** Accepts uploads; for the content server. */
  readonly handler: RequestHandler;
  /** Deletes uploads of deleted Bundles. */
  readonly collector: Runnable;
  /** Whether all replicas share the uploads, so that one collector is enough. */
  readonly shared: boolean;
}

interface UploadParts {
  readonly client: KubeClient;
  readonly events: EventSink;
  readonly kinds: Pick<Kinds, 'bundles'>;
  readonly clock: Clock;
  readonly onLeftover: OnLeftover;
}

/**
 * Accepts and stores uploads; undefined when this process does not accept any.
 * @throws Error when they would be stored among archives
 */
export function createUploads(
  options: Pick<ManagerSettings, 'uploads' | 'content' | 'systemNamespace' | 'logger'>,
  parts: UploadParts,
): Uploads | undefined {
  if (options.uploads === undefined) return undefined;
  checkDirectory(options.uploads, options.content.directory);
  const { directory, maxBytes, storage, syncInterval: interval } = options.uploads;
  const { client, clock, events } = parts;
  const store = createStore(options.uploads, parts, options.systemNamespace);
  const handler = createUploadHandler({
    store,
    directory,
    maxBytes,
    clock,
    bundles: {
      find: (name, signal) => findBundle(client, name, signal),
      claim: (key, upload) => claimUpload(key, { client, ...upload }),
      announce: (key, announcement) =>
        announceUpload(key, { client, clock, events, ...announcement }),
    },
  });
  const collector = createUploadCollector({ ...parts, store, interval, logger: options.logger });
  return { store, handler, collector, shared: storage === 'cluster' };
}

/** Archives have similar names, and replace files. */
function checkDirectory({ storage, directory }: UploadOptions, archives: string): void {
  if (storage !== 'directory') return;
  const place = realPath(directory);
  if (place !== realPath(archives) && place !== realPath(join(archives, 'kept'))) return;
  throw new Error(
    `"${directory}" is a directory of archives too (--provisioner-storage-dir): set --upload-storage-dir to another one, and move the files named <bundle>.<UID>.tgz there`,
  );
}

function realPath(directory: string): string {
  return existsSync(directory) ? realpathSync(directory) : resolve(directory);
}

function createStore(
  { storage, directory, namespace: own }: UploadOptions,
  { client, onLeftover, clock }: Pick<UploadParts, 'client' | 'onLeftover' | 'clock'>,
  systemNamespace: string,
): UploadStore {
  if (storage === 'directory') return new DirectoryUploads(directory, onLeftover);
  prepareDirectory(directory, onLeftover);
  return new ClusterUploads({ client, namespace: own ?? systemNamespace, clock });
}

export interface UploadCollectorOptions {
  readonly store: Pick<UploadStore, 'collect'>;
  readonly client: Pick<KubeClient, 'get'>;
  readonly kinds: Pick<Kinds, 'bundles'>;
  /** Milliseconds between two searches. */
  readonly interval: number;
  readonly clock: Clock;
  readonly onLeftover: OnLeftover;
  readonly logger: Pick<Logger, 'warn'>;
}

/** Periodically deletes uploads of deleted Bundles. */
export function createUploadCollector(options: UploadCollectorOptions): Runnable {
  const { interval, clock, onLeftover, logger } = options;
  // When no Bundle uses uploads, there are none after the remaining ones have been deleted.
  let mayHaveSome = true;
  const collect = async (signal: AbortSignal): Promise<void> => {
    const known = uploadBundles(options.kinds);
    if (known.size === 0 && !mayHaveSome) return;
    await options.store.collect((key) => isWanted(key, known, { ...options, signal }), signal);
    mayHaveSome = known.size > 0;
  };
  const report = (error: unknown): void => {
    if (error instanceof UndeletedFilesError) return onLeftover(error);
    const message = 'cannot look for uploads of deleted Bundles; core looks again later';
    logger.warn({ error: errorMessage(error) }, message);
  };
  return {
    name: 'upload garbage collection',
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(interval, signal).catch(() => undefined);
        if (signal.aborted) return;
        try {
          await collect(signal);
        } catch (error) {
          if (!signal.aborted) report(error);
        }
      }
    },
  };
}

/** UIDs of the Bundles that use uploads. */
function uploadBundles({ bundles }: Pick<Kinds, 'bundles'>): ReadonlySet<string> {
  const ofType = bundles.list().filter(({ spec }) => spec.source.type === 'upload');
  return new Set(ofType.map(({ metadata }) => metadata.uid ?? ''));
}

/** The watch may lag, so the API server confirms that an unknown Bundle does not exist. */
async function isWanted(
  { name, uid }: ContentKey,
  known: ReadonlySet<string>,
  { client, signal }: Pick<UploadCollectorOptions, 'client'> & { readonly signal: AbortSignal },
): Promise<boolean> {
  if (known.has(uid)) return true;
  // A foreign Secret with the label may name no Bundle.
  if (name === '') return false;
  return (await findBundle(client, name, signal))?.metadata.uid === uid;
}
