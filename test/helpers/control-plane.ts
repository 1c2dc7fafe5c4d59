import { spawnSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { findBinaries } from '../../deploy/local/binaries/find-binaries.ts';
import {
  type Cluster,
  runningCluster,
  startCluster,
} from '../../deploy/local/cluster/start-cluster.ts';
import { ClusterClient } from './cluster-client.ts';
import { eventually } from './eventually.ts';
import { installCrds } from './install-crds.ts';
import { RunFolder } from './run-folder.ts';
import { clusterWorkers, givenClusters } from './workers.ts';

interface Shared {
  users: number;
  readonly clusters: Promise<readonly Cluster[]>;
  readonly stop: () => Promise<void>;
}

// Every project loads this file again in the same process; only a global is shared.
declare global {
  var rukpakTestControlPlanes: Shared | undefined;
}

const COMMAND = fileURLToPath(new URL('../../deploy/local/cluster.ts', import.meta.url));
const HANGUP_EXIT_CODE = 129;
/** Services of different clusters are different addresses of this machine. */
const FIRST_SERVICE_NET = 96;

const say = (line: string) => process.stderr.write(`control planes: ${line}\n`);

async function existing(dir: string): Promise<Cluster> {
  const cluster = await runningCluster(dir);
  if (cluster !== undefined) return cluster;
  throw new Error(`RUKPAK_TEST_CLUSTER names ${dir}, but no cluster is up there`);
}

function begin(): Shared {
  if (givenClusters.length > 0) {
    return { users: 0, clusters: Promise.all(givenClusters.map(existing)), stop: async () => {} };
  }
  const folder = RunFolder.create();
  const dirs = Array.from({ length: clusterWorkers }, (_, index) =>
    join(folder.path, String(index + 1)),
  );
  const interruption = new AbortController();
  const clusters = startAll(dirs, interruption.signal);
  // An interrupted vitest ends without teardown, and only synchronous work is done at its exit. The
  // servers are processes of their own, so they would stay.
  function sweep(): void {
    for (const dir of dirs) {
      spawnSync(process.execPath, [COMMAND, 'down', '--dir', dir], { stdio: 'ignore' });
    }
    folder.sweep();
  }
  process.once('exit', sweep);
  process.once('SIGHUP', () => process.exit(HANGUP_EXIT_CODE));
  async function stop(): Promise<void> {
    interruption.abort(new Error('the test run has ended'));
    // Deletes the folder even when a cluster did not start.
    const up = await clusters.catch(() => []);
    await nothingIsLeft(up);
    await ClusterClient.closeAll();
    await Promise.all(dirs.map(async (dir) => await (await runningCluster(dir))?.stop()));
    await rm(folder.path, { recursive: true, force: true });
    process.off('exit', sweep);
  }
  return { users: 0, clusters, stop };
}

/** Tests start deletions and go on; here all of them have to have ended. */
async function nothingIsLeft(clusters: readonly Cluster[]): Promise<void> {
  const found = await Promise.all(clusters.map(leftovers));
  const names = found.flatMap((each, index) => each.map((name) => `${name} (${index + 1})`));
  if (names.length === 0) return;
  say(`tests have left ${names.join(', ')}`);
  process.exitCode = 1;
}

async function leftovers({ kubeconfig }: Cluster): Promise<readonly string[]> {
  const client = ClusterClient.of(kubeconfig);
  let found: readonly string[] = [];
  try {
    await eventually(async () => {
      // The last file may have taken our kinds away.
      const objects = await client.list('bundledeployments,bundles').catch(() => []);
      found = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      if (found.length > 0) throw new Error('the garbage collector is not done');
    });
  } catch {
    // They are named.
  }
  return found;
}

async function startAll(dirs: readonly string[], signal: AbortSignal): Promise<readonly Cluster[]> {
  // Builds them once before all clusters, with one progress.
  await findBinaries({ onProgress: say, signal });
  say(`starting ${dirs.length}`);
  const starts = dirs.map((dir, index) => {
    const serviceRange = `127.${FIRST_SERVICE_NET + index}.0.0/16`;
    return startCluster({ dir, serviceRange, audit: true, signal });
  });
  // Waits for all before it reports the first failure: none may start after the folder is deleted.
  await Promise.allSettled(starts);
  const clusters = await Promise.all(starts);
  // Waits once: the garbage collector needs half a minute to discover a kind.
  await Promise.all(clusters.map(({ kubeconfig }) => installCrds(kubeconfig)));
  return clusters;
}

/** Starts control planes for the whole run, however many projects ask; the last one stops them. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (globalThis.rukpakTestControlPlanes ??= begin());
  shared.users += 1;
  async function leave(): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) return;
    globalThis.rukpakTestControlPlanes = undefined;
    await shared.stop();
  }
  try {
    const clusters = await shared.clusters;
    project.provide(
      'controlPlanes',
      clusters.map(({ kubeconfig, registry, dir, kubectl }) => ({
        kubeconfig,
        registry,
        clusterDir: dir,
        kubectl,
      })),
    );
  } catch (error) {
    await leave();
    throw error;
  }
  return leave;
}
