import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import type { Cluster } from '../../deploy/local/cluster/start-cluster.ts';
import { runningCluster, startCluster } from '../../deploy/local/cluster/start-cluster.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** File of an administrator's kubeconfig. */
    readonly kubeconfig: string;
    /** `host:port` of the OCI registry, plain HTTP. */
    readonly registry: string;
    /** The cluster's folder; `audit.log` in it has a line per API request. */
    readonly clusterDir: string;
    /** Path of kubectl. */
    readonly kubectl: string;
  }
}

interface Shared {
  users: number;
  readonly cluster: Promise<Cluster>;
  readonly stop: () => Promise<void>;
}

// Every project loads this file anew, in the same process; only a global is common to them.
declare global {
  var rukpakTestControlPlane: Shared | undefined;
}

const COMMAND = fileURLToPath(new URL('../../deploy/local/cluster.ts', import.meta.url));
const HANGUP_EXIT_CODE = 129;

const say = (line: string) => process.stderr.write(`control plane: ${line}\n`);

async function existing(dir: string): Promise<Cluster> {
  const cluster = await runningCluster(dir);
  if (cluster !== undefined) return cluster;
  throw new Error(`RUKPAK_TEST_CLUSTER names ${dir}, but no cluster is up there`);
}

function begin(): Shared {
  const named = process.env['RUKPAK_TEST_CLUSTER'];
  if (named !== undefined && named !== '') {
    return { users: 0, cluster: existing(named), stop: async () => {} };
  }
  const base = mkdtempSync(join(tmpdir(), 'rukpak-test-'));
  const dir = join(base, 'cluster');
  const interruption = new AbortController();
  const { signal } = interruption;
  const cluster = startCluster({ dir, audit: true, onProgress: say, signal });
  // An interrupted vitest ends without teardown, and only synchronous work is done at its exit. The
  // servers are processes of their own, so they would stay.
  function sweep(): void {
    spawnSync(process.execPath, [COMMAND, 'down', '--dir', dir], { stdio: 'ignore' });
    rmSync(base, { recursive: true, force: true });
  }
  process.once('exit', sweep);
  process.once('SIGHUP', () => process.exit(HANGUP_EXIT_CODE));
  async function stop(): Promise<void> {
    interruption.abort(new Error('the test run has ended'));
    // Its own folder goes even when the cluster did not come up.
    const started = await cluster.catch(() => undefined);
    await started?.stop();
    await rm(base, { recursive: true, force: true });
    process.off('exit', sweep);
  }
  return { users: 0, cluster, stop };
}

/** Starts one cluster for the whole run, however many projects ask; the last one stops it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = (globalThis.rukpakTestControlPlane ??= begin());
  shared.users += 1;
  async function leave(): Promise<void> {
    shared.users -= 1;
    if (shared.users > 0) return;
    globalThis.rukpakTestControlPlane = undefined;
    await shared.stop();
  }
  try {
    const cluster = await shared.cluster;
    project.provide('kubeconfig', cluster.kubeconfig);
    project.provide('registry', cluster.registry);
    project.provide('clusterDir', cluster.dir);
    project.provide('kubectl', cluster.kubectl);
  } catch (error) {
    await leave();
    throw error;
  }
  return leave;
}
