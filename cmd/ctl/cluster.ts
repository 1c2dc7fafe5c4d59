import {
  CredentialSource,
  type Credentials,
  connect,
  type KubeConnection,
  type Kubeconfig,
  loadKubeconfig,
} from '../../core/platform/kube/index.ts';
import { stopSignal } from '../../core/platform/runtime/index.ts';
import { type ClusterFlags, kubeconfigOptions } from './cluster-flags.ts';
import { explainedNotFound } from './explained-not-found.ts';

/** The cluster of a command, with the user's own identity. */
export interface Cluster extends Pick<KubeConnection, 'client' | 'discovery' | 'clockOffset'> {
  readonly config: Kubeconfig;
  /** User that the command was told to act as. */
  readonly actsAs?: string;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** What the user shows the API server. */
  credentials(): Promise<Credentials>;
}

/** Connects for as long as `work` lasts; `onWarning` is told what the API server warns of. */
export async function withCluster<T>(
  flags: ClusterFlags,
  work: (cluster: Cluster) => Promise<T>,
  onWarning?: (warning: string) => void,
): Promise<T> {
  const options = kubeconfigOptions(flags);
  const config = loadKubeconfig(options);
  const source = new CredentialSource(config);
  const kube = connect({
    ...options,
    userAgent: 'rukpakctl',
    ...(onWarning === undefined ? {} : { onWarning }),
  });
  const { client, discovery, clockOffset, close } = kube;
  try {
    return await work({
      client,
      discovery,
      clockOffset,
      config,
      signal: stopSignal(),
      ...(flags.as === undefined ? {} : { actsAs: flags.as }),
      credentials: () => source.current(),
    });
  } catch (error) {
    throw await explainedNotFound(error, client);
  } finally {
    await close();
  }
}
