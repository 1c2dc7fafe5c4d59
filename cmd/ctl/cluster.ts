import { connect, type KubeConnection } from '../../core/kube/connect.ts';
import { CredentialSource, type Credentials } from '../../core/kube/credentials.ts';
import { type Kubeconfig, loadKubeconfig } from '../../core/kube/kubeconfig.ts';
import type { ClusterFlags } from './cluster-flags.ts';
import { explainedNotFound } from './explained-not-found.ts';

/** The cluster of a command, with the user's own identity. */
export interface Cluster extends Pick<KubeConnection, 'client' | 'discovery' | 'clockOffset'> {
  readonly config: Kubeconfig;
  /** What the user shows the API server. */
  credentials(): Promise<Credentials>;
}

/** Connects for as long as `work` lasts. */
export async function withCluster<T>(
  { kubeconfig, context }: ClusterFlags,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const options = {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  };
  const config = loadKubeconfig(options);
  const source = new CredentialSource(config);
  const kube = connect({ ...options, userAgent: 'rukpakctl' });
  const { client, discovery, clockOffset, close } = kube;
  try {
    return await work({
      client,
      discovery,
      clockOffset,
      config,
      credentials: () => source.current(),
    });
  } catch (error) {
    throw await explainedNotFound(error, client);
  } finally {
    await close();
  }
}
