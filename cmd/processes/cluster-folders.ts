import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '../../core/contracts/logger.ts';
import { errorMessage } from '../../core/errors.ts';
import { Backoff, systemClock } from '../../core/platform/clock.ts';
import { connect, hasCode, namespaceResource } from '../../core/platform/kube/index.ts';
import { type CoreFlags, laptopFolders } from '../flags/core-flags.ts';

type FolderFlags = Pick<
  CoreFlags,
  'kubeconfig' | 'context' | 'provisionerStorageDir' | 'uploadStorageDir'
>;

/** The Namespace that every cluster has, and nobody makes again. */
const name = 'kube-system';

/**
 * Flags with folders of this cluster alone, in place of the default ones: core deletes uploads and
 * archives whose Bundle its cluster lacks, and a laptop has several clusters. Folders that the user
 * names stay. Waits for the API server; undefined if the signal is aborted meanwhile.
 * @throws Error that names the flags when the API server does not say which cluster it is
 */
export async function withClusterFolders<Flags extends FolderFlags>(
  flags: Flags,
  logger: Logger,
  signal: AbortSignal,
): Promise<Flags | undefined> {
  const names = ['provisionerStorageDir', 'uploadStorageDir'] as const;
  const shared = names.filter((each) => flags[each] === laptopFolders[each]);
  if (shared.length === 0) return flags;
  const cluster = await clusterUid(flags, logger, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    return undefined;
  });
  if (cluster === undefined) return undefined;
  const own = shared.map((each) => [each, join(laptopFolders[each], cluster)]);
  if (shared.includes('uploadStorageDir')) await tellOfEarlierUploads(cluster, logger);
  return { ...flags, ...Object.fromEntries(own) };
}

/** An earlier version had the uploads of all clusters in one folder. */
async function tellOfEarlierUploads(cluster: string, logger: Logger): Promise<void> {
  const folder = laptopFolders.uploadStorageDir;
  const names = await readdir(folder).catch(() => []);
  if (!names.some((each) => each.endsWith('.tgz'))) return;
  const own = join(folder, cluster);
  logger.warn(
    { folder, own },
    'uploads of an earlier version: move those of this cluster to "own"',
  );
}

async function clusterUid(
  { kubeconfig, context }: FolderFlags,
  logger: Logger,
  signal: AbortSignal,
): Promise<string> {
  const { client, close } = connect({ kubeconfig, context, userAgent: 'rukpak-all' });
  const backoff = new Backoff({ initial: 500, max: 10_000 });
  try {
    for (;;) {
      try {
        const { metadata } = await client.get(namespaceResource, { name }, signal);
        return metadata.uid ?? '';
      } catch (error) {
        signal.throwIfAborted();
        // An API server that has just started makes the Namespace a moment later.
        if (hasCode(error, 401, 403)) throw unknownCluster(error);
        logger.warn({ error: errorMessage(error) }, 'waiting for the API server');
      }
      await systemClock.sleep(backoff.next(), signal);
    }
  } finally {
    await close();
  }
}

function unknownCluster(cause: Error): Error {
  return new Error(
    `cannot read Namespace "${name}", whose UID names the folders of this cluster (${cause.message}): pass --provisioner-storage-dir and --upload-storage-dir`,
    { cause },
  );
}
