import type { Bundle } from '../../../api/v1alpha1/bundle.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import { isOwn } from '../../../api/v1alpha1/rules/generated-bundle.ts';
import { storedContentKey } from '../../bundle/index.ts';
import { creatorOfBundle } from '../../bundle-deployment/index.ts';
import type { EventSink } from '../../contracts/event-sink.ts';
import type { ContentKey } from '../../contracts/store.ts';
import { errorMessage } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ContentMetrics } from '../../platform/observe/index.ts';
import type { CacheChange, Runnable } from '../../platform/runtime/index.ts';
import {
  ArchiveSpace,
  collectGarbage,
  type DiskStore,
  FileKept,
  KeptArchives,
  type OnLeftover,
} from '../../store/index.ts';
import type { Kinds } from '../kinds/kinds.ts';
import type { ManagerSettings } from '../settings.ts';

interface Archives {
  readonly store: Pick<DiskStore, 'list' | 'delete'>;
  readonly kept: Pick<KeptArchives, 'release' | 'collect' | 'resume'>;
}

/**
 * Deletes archives of deleted Bundles, at the start and from then on; keeps installed content until
 * something else is installed. The leader's finalizers do the same, but Bundles may be deleted
 * while there is no leader.
 */
export function createArchiveCleaner(
  { store, kept }: Archives,
  { bundles, deployments }: Pick<Kinds, 'bundles' | 'deployments'>,
  onLeftover: OnLeftover,
): Runnable {
  /** Ended while not all deployments were known: their content may be installed. */
  let early: Bundle[] | undefined = [];
  bundles.onChange((change) => {
    const ended = endedBundle(change);
    if (ended === undefined) return;
    if (early === undefined) kept.release(ended).catch(onLeftover);
    else early.push(ended);
  });
  const collected = Promise.withResolvers<void>();
  return {
    name: 'archive garbage collection',
    ready: () => collected.promise,
    async run() {
      const ended = early ?? [];
      early = undefined;
      await kept.resume().catch(onLeftover);
      for (const bundle of ended) await kept.release(bundle).catch(onLeftover);
      await collectGarbage(store, () => namesOf(bundles.list()), onLeftover);
      // Earlier not all deployments may have been known.
      deployments.onChange(() => void kept.collect());
      await kept.collect();
      collected.resolve();
    },
  };
}

function namesOf(bundles: readonly Bundle[]): readonly string[] {
  return bundles.map(({ metadata: { name = '' } }) => name);
}

/** A recreated Bundle may appear before the watch reports the deletion. */
function endedBundle({ type, object, previous }: CacheChange<Bundle>): Bundle | undefined {
  if (type === 'deleted') return object;
  return previous?.metadata.uid === object.metadata.uid ? undefined : previous;
}

interface KeptArchivesParts {
  readonly store: DiskStore;
  readonly kinds: Pick<Kinds, 'bundles' | 'deployments'>;
  readonly space: ArchiveSpace | undefined;
  readonly onLeftover: OnLeftover;
}

interface SpaceParts {
  readonly kinds: Pick<Kinds, 'bundles' | 'deployments'>;
  readonly clock: Clock;
}

/** Bounds the archives of this process; undefined without a bound. */
export function archiveSpace(
  { maxArchiveBytes: maxBytes }: ManagerSettings['content'],
  { kinds: { bundles, deployments }, clock }: SpaceParts,
): ArchiveSpace | undefined {
  if (maxBytes === undefined) return undefined;
  return new ArchiveSpace({
    maxBytes,
    clock,
    creatorOf: (name) => {
      const bundle = bundles.get({ name });
      return bundle === undefined ? '' : creatorOfBundle(bundle, deployments);
    },
    isStored: (name) => bundles.get({ name })?.status?.phase === 'Unpacked',
  });
}

/** Whether there is a Bundle of this name and UID. */
export function isCurrent({ name, uid }: ContentKey, { bundles }: Pick<Kinds, 'bundles'>): boolean {
  return bundles.get({ name })?.metadata.uid === uid;
}

/** Keeps the archives of deleted Bundles while a deployment has their content installed. */
export function keptArchives(
  { content: { directory }, limits }: Pick<ManagerSettings, 'content' | 'limits'>,
  { store, kinds, space, onLeftover }: KeptArchivesParts,
): KeptArchives {
  const isInstalled = (bundle: Bundle): boolean => isActive(bundle, kinds);
  const isLive = (bundle: Bundle): boolean => isCurrent(storedContentKey(bundle), kinds);
  const known = { isInstalled, isLive };
  return new KeptArchives({ store, directory, limits, space, ...known, onLeftover });
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
 * Reports files that could not be deleted, or that core keeps: in the log, and in Events on the system
 * namespace, because no other object is left for them. Failures also count in a metric.
 */
export function createLeftoverReport(
  { logger, systemNamespace }: Pick<ManagerSettings, 'logger' | 'systemNamespace'>,
  parts: { readonly events: EventSink; readonly metrics: Pick<ContentMetrics, 'leftOver'> },
): OnLeftover {
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: systemNamespace } };
  return (error) => {
    const cause = errorMessage(error);
    if (error instanceof FileKept) {
      logger.warn({ error: cause }, 'core has kept a file that it may not delete');
      parts.events.event(namespace, { type: 'Warning', reason: 'FileKept', message: cause });
      return;
    }
    logger.warn({ error: cause }, 'a file that is not needed any more cannot be removed');
    parts.metrics.leftOver();
    const message = `a file that is not needed any more cannot be removed: ${cause}. Remove it by hand`;
    parts.events.event(namespace, { type: 'Warning', reason: 'CleanupFailed', message });
  };
}
