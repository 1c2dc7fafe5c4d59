import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import { isOwn } from '../bundle-deployment/index.ts';
import type { EventSink } from '../contracts/event-sink.ts';
import { errorMessage } from '../errors.ts';
import type { ContentMetrics } from '../platform/observe/index.ts';
import type { CacheChange, Runnable } from '../platform/runtime/index.ts';
import { collectGarbage, type DiskStore, KeptArchives, type OnLeftover } from '../store/index.ts';
import type { Kinds } from './kinds.ts';
import type { ManagerSettings } from './settings.ts';

interface Archives {
  readonly store: Pick<DiskStore, 'names' | 'delete'>;
  readonly kept: Pick<KeptArchives, 'release' | 'collect' | 'resume'>;
}

/**
 * Removes archives of Bundles that are gone, at the start and from then on; what is installed is kept
 * until something else is. Finalizers do so where they run; they run in the leader, and Bundles may
 * go while nobody is there.
 */
export function createArchiveCleaner(
  { store, kept }: Archives,
  { bundles, deployments }: Pick<Kinds, 'bundles' | 'deployments'>,
  onLeftover: OnLeftover,
): Runnable {
  bundles.onChange((change) => {
    const ended = endedBundle(change);
    if (ended !== undefined) kept.release(ended).catch(onLeftover);
  });
  const collected = Promise.withResolvers<void>();
  return {
    name: 'archive garbage collection',
    ready: () => collected.promise,
    async run() {
      await kept.resume().catch(onLeftover);
      await collectGarbage(store, () => namesOf(bundles.list()), onLeftover);
      // Before, not all deployments may have been known.
      deployments.onChange(() => void kept.collect());
      await kept.collect();
      collected.resolve();
    },
  };
}

function namesOf(bundles: readonly Bundle[]): readonly string[] {
  return bundles.map(({ metadata: { name = '' } }) => name);
}

/** A namesake may come before the watch tells of the end. */
function endedBundle({ type, object, previous }: CacheChange<Bundle>): Bundle | undefined {
  if (type === 'deleted') return object;
  return previous?.metadata.uid === object.metadata.uid ? undefined : previous;
}

interface KeptArchivesParts {
  readonly store: DiskStore;
  readonly kinds: Pick<Kinds, 'deployments'>;
  readonly onLeftover: OnLeftover;
}

/** Keeps the archives of Bundles that are gone while a deployment has their content installed. */
export function keptArchives(
  { content: { directory }, limits }: Pick<ManagerSettings, 'content' | 'limits'>,
  { store, kinds, onLeftover }: KeptArchivesParts,
): KeptArchives {
  const isInstalled = (bundle: Bundle): boolean => isActive(bundle, kinds);
  return new KeptArchives({ store, directory, limits, isInstalled, onLeftover });
}

/** Another Bundle of the same name may have been applied since. */
function isActive(bundle: Bundle, { deployments }: Pick<Kinds, 'deployments'>): boolean {
  const { name, uid, labels = {} } = bundle.metadata;
  const deployment = deployments.get({ name: labels[label.ownerName] ?? '' });
  if (deployment === undefined || !isOwn(bundle, deployment)) return false;
  if (deployment.metadata.deletionTimestamp !== undefined) return false;
  const { activeBundle, applied } = deployment.status ?? {};
  return activeBundle === name && (applied === undefined || applied.uid === uid);
}

/**
 * Tells the log, a metric, and Events of the system namespace what could not be removed: there is
 * no other object left to tell it of.
 */
export function createLeftoverReport(
  { logger, systemNamespace }: Pick<ManagerSettings, 'logger' | 'systemNamespace'>,
  parts: { readonly events: EventSink; readonly metrics: Pick<ContentMetrics, 'leftOver'> },
): OnLeftover {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
  return (error) => {
    const cause = errorMessage(error);
    logger.warn({ error: cause }, 'a file that is not needed any more cannot be removed');
    parts.metrics.leftOver();
    const message = `a file that is not needed any more cannot be removed: ${cause}. Remove it by hand`;
    parts.events.event(namespace, { type: 'Warning', reason: 'CleanupFailed', message });
  };
}
