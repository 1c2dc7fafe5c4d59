import type { RequestHandler } from 'express';
import { announceUpload, findBundle } from '../bundle/index.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import type { UploadStore } from '../contracts/upload-store.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { Runnable } from '../platform/runtime/index.ts';
import {
  ClusterUploads,
  createUploadHandler,
  DirectoryUploads,
  type OnLeftover,
  prepareDirectory,
} from '../store/index.ts';
import type { Kinds } from './kinds.ts';
import type { UploadOptions } from './options.ts';
import type { ManagerSettings } from './settings.ts';
import { createUploadCollector } from './upload-collector.ts';

export interface Uploads {
  readonly store: UploadStore;
  /** Takes uploads; for the content server. */
  readonly handler: RequestHandler;
  /** Removes uploads of Bundles that are gone. */
  readonly collector: Runnable;
  /** Whether all replicas see the same uploads, so that one collector is enough. */
  readonly shared: boolean;
}

interface UploadParts {
  readonly client: KubeClient;
  readonly events: EventSink;
  readonly kinds: Pick<Kinds, 'bundles'>;
  readonly clock: Clock;
  readonly onLeftover: OnLeftover;
}

/** What takes uploads and keeps them; undefined where this process is not to take any. */
export function createUploads(options: ManagerSettings, parts: UploadParts): Uploads | undefined {
  if (options.uploads === undefined) return undefined;
  const { directory, maxBytes, storage, syncInterval: interval } = options.uploads;
  const { client, clock, events } = parts;
  const store = createStore(options.uploads, parts, options.systemNamespace);
  const handler = createUploadHandler({
    store,
    directory,
    maxBytes,
    bundles: {
      find: (name, signal) => findBundle(client, name, signal),
      announce: (key, announcement) =>
        announceUpload(key, { client, clock, events, ...announcement }),
    },
  });
  const collector = createUploadCollector({ ...parts, store, interval });
  return { store, handler, collector, shared: storage === 'cluster' };
}

function createStore(
  { storage, directory, namespace: own }: UploadOptions,
  { client, onLeftover }: Pick<UploadParts, 'client' | 'onLeftover'>,
  systemNamespace: string,
): UploadStore {
  if (storage === 'directory') return new DirectoryUploads(directory, onLeftover);
  prepareDirectory(directory, onLeftover);
  return new ClusterUploads({ client, namespace: own ?? systemNamespace });
}
