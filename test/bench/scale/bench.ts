import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type KubeConnection } from '../../../core/platform/kube/index.ts';
import {
  type Cluster,
  runningCluster,
  startCluster,
} from '../../../deploy/local/cluster/start-cluster.ts';
import { AuditLog } from '../../helpers/audit-log.ts';
import { installCrds } from '../../helpers/install-crds.ts';
import { Kubectl } from '../../helpers/kubectl.ts';

const command = join(import.meta.dirname, '../../../deploy/local/cluster.ts');

/** A control plane to measure on, and the benchmark's own way to it. */
export interface Bench extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly kube: KubeConnection;
  readonly audit: AuditLog;
  /** Of a ServiceAccount that may read /metrics. */
  readonly token: string;
}

/**
 * A cluster of its own, or the one that RUKPAK_TEST_CLUSTER names, which needs its audit log.
 * `controllerRate` is that of kube-controller-manager in a cluster of its own, requests a second.
 */
export async function startBench(controllerRate?: number): Promise<Bench> {
  const named = process.env['RUKPAK_TEST_CLUSTER'] ?? '';
  if (named !== '') return await openBench(named);
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-bench-cluster-'));
  const cluster = await startCluster({
    dir: join(folder, 'cluster'),
    audit: true,
    ...(controllerRate === undefined ? {} : { controllerRate }),
  });
  const forget = stopAtExit(folder, cluster.dir);
  const stop = async (): Promise<void> => {
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
    forget();
  };
  try {
    const bench = await openBench(cluster.dir);
    const dispose = async (): Promise<void> => {
      await bench[Symbol.asyncDispose]();
      await stop();
    };
    return { ...bench, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Servers outlive this process, and an exit handler can only do synchronous work. */
function stopAtExit(folder: string, dir: string): () => void {
  const sweep = (): void => {
    spawnSync(process.execPath, [command, 'down', '--dir', dir], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', sweep);
  return () => process.off('exit', sweep);
}

/** Uses the cluster of a folder, and leaves it running. */
export async function openBench(dir: string): Promise<Bench> {
  const cluster = await runningCluster(dir);
  if (cluster === undefined) throw new Error(`no cluster is up in ${dir}`);
  const { kubeconfig, kubectl: path } = cluster;
  await installCrds(kubeconfig);
  const token = await prepare(new Kubectl({ path, kubeconfig }));
  const kube = connect({ kubeconfig, userAgent: 'bench' });
  const audit = new AuditLog(cluster.dir);
  return { cluster, kube, audit, token, [Symbol.asyncDispose]: () => kube.close() };
}

/** A token for /metrics. */
async function prepare(kubectl: Kubectl): Promise<string> {
  const [namespace, name] = ['rukpak-system', 'bench'];
  const rbac = 'rbac.authorization.k8s.io';
  await kubectl.apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRole',
      metadata: { name },
      rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'ClusterRoleBinding',
      metadata: { name },
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects: [{ kind: 'ServiceAccount', namespace, name }],
    },
  );
  const create = ['create', 'token', name, `--namespace=${namespace}`, '--duration=24h'];
  return (await kubectl.must(create)).trim();
}
