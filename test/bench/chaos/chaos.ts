import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CoreProcess } from '../core-process.ts';
import { type Row, rounded } from '../report.ts';
import { AppWatch } from '../scale/app-watch.ts';
import { pushApps } from '../scale/apps.ts';
import type { Bench } from '../scale/bench.ts';
import { createApps } from '../scale/install.ts';
import { deleteApps, untilNoneIsLeft } from '../scale/remove.ts';
import { ClusterParts } from './cluster-parts.ts';
import { Network } from './network.ts';
import { Progress } from './progress.ts';

import { Supervisor } from './supervisor.ts';
import { untilAllIsAsWanted } from './wanted.ts';

/** Milliseconds for which the network is cut: longer than the lease lasts. */
const cutFor = 20_000;
/** Maximum milliseconds of the whole run. */
const limit = 1_800_000;

/** Faults during the installation, and the share of the work at which each is injected. */
const mishaps = [
  { at: 0.05, kind: 'kill' },
  { at: 0.25, kind: 'apiserver' },
  { at: 0.45, kind: 'kill' },
  { at: 0.6, kind: 'network' },
  { at: 0.8, kind: 'kill' },
] as const;

/**
 * Installs apps while our process is killed three times, the API server once, and the network
 * between them is cut; deletes them in the end. Throws where not all were installed, each object
 * exactly once, with nothing left over. Gives the share of the work that was done at each mishap.
 */
export async function installInChaos(bench: Bench, apps: readonly string[]): Promise<Row> {
  const { cluster, kube } = bench;
  const signal = AbortSignal.timeout(limit);
  await pushApps(apps, { registry: cluster.registry, version: 1 });
  await using network = await Network.start(Number(new URL(cluster.server).port));
  const kubeconfig = await throughNetwork(bench, network);
  const { registry } = cluster;
  const parts = await ClusterParts.open(cluster.dir);
  await using core = await CoreProcess.start({ kubeconfig, registry }, ['--leader-elect']);
  await using supervisor = new Supervisor(core);
  const watch = await AppWatch.start(kube.client);
  await using progress = await Progress.start(kube.client, watch, apps.length);
  try {
    const start = performance.now();
    await createApps({ ...bench, apps }, signal);
    const done: Record<string, number> = {};
    for (const [index, { at, kind }] of mishaps.entries()) {
      await progress.until(at, signal);
      done[`% at ${index + 1}: ${kind}`] = rounded(progress.share * 100);
      if (kind === 'kill') await kill(core, signal);
      if (kind === 'apiserver') await parts.restart('kube-apiserver');
      if (kind === 'network') await cutOff(network, signal);
    }
    await watch.until(() => watch.reached(1, 'healthy').length === apps.length, signal);
    const seconds = rounded((performance.now() - start) / 1000);
    await untilAllIsAsWanted({ kube, apps, archives: core.archives });
    await deleteApps({ kube, apps }, signal);
    await untilNoneIsLeft({ kube }, signal);
    return { ...done, starts: supervisor.restarts + 1, seconds };
  } catch (error) {
    process.stderr.write(await core.log());
    throw error;
  } finally {
    watch.stop();
  }
}

/** A kubeconfig beside the cluster's, which goes with it. */
async function throughNetwork({ cluster }: Bench, { port }: Network): Promise<string> {
  const direct = await readFile(cluster.kubeconfig, 'utf8');
  const file = join(cluster.dir, 'through-network.kubeconfig');
  const indirect = direct.replaceAll(cluster.server, `https://127.0.0.1:${port}`);
  await writeFile(file, indirect, { mode: 0o600 });
  return file;
}

/** Waits while the supervisor restarts the process. */
async function kill(core: CoreProcess, signal: AbortSignal): Promise<void> {
  while (!core.running) await delay(10, undefined, { signal });
  await core.end('SIGKILL');
}

async function cutOff(network: Network, signal: AbortSignal): Promise<void> {
  network.cut();
  await delay(cutFor, undefined, { signal });
  network.restore();
}
