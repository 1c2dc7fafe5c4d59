import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type KubeConnection } from '../../../core/kube/connect.ts';
import {
  type Cluster,
  runningCluster,
  startCluster,
} from '../../../deploy/local/cluster/start-cluster.ts';
import { AuditLog } from '../../helpers/audit-log.ts';
import { installCrds } from '../../helpers/install-crds.ts';
import { Kubectl } from '../../helpers/kubectl.ts';

/** A control plane to measure on, and the benchmark's own way to it. */
export interface Bench extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly kube: KubeConnection;
  readonly audit: AuditLog;
  /** Of a ServiceAccount that may read /metrics. */
  readonly token: string;
}

/** A cluster of its own, or the one that RUKPAK_TEST_CLUSTER names, which needs its audit log. */
export async function startBench(): Promise<Bench> {
  const named = process.env['RUKPAK_TEST_CLUSTER'] ?? '';
  const folder = named === '' ? await mkdtemp(join(tmpdir(), 'rukpak-bench-cluster-')) : undefined;
  const cluster =
    folder === undefined
      ? await runningCluster(named)
      : await startCluster({ dir: join(folder, 'cluster'), audit: true });
  if (cluster === undefined) throw new Error(`RUKPAK_TEST_CLUSTER: no cluster is up in ${named}`);
  const { kubeconfig, kubectl: path } = cluster;
  const kube = connect({ kubeconfig, userAgent: 'bench' });
  const stop = async (): Promise<void> => {
    await kube.close();
    if (folder === undefined) return;
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const token = await prepare(new Kubectl({ path, kubeconfig }));
    const audit = new AuditLog(cluster.dir);
    return { cluster, kube, audit, token, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Installs our kinds; gives a token for /metrics. */
async function prepare(kubectl: Kubectl): Promise<string> {
  await installCrds(kubectl);
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
