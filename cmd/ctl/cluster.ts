import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../core/errors.ts';
import {
  CredentialSource,
  type Credentials,
  connect,
  isNotFound,
  type KubeClient,
  type KubeConnection,
  type Kubeconfig,
  loadKubeconfig,
} from '../../core/platform/kube/index.ts';
import { stopSignal } from '../../core/platform/runtime/index.ts';
import { type ClusterFlags, kubeconfigOptions } from './flags.ts';

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

const { group, version } = bundleDeploymentResource;

/**
 * What to say of an error: where the cluster has no RukPak at all, the API server answers `404 page
 * not found` to everything, and that tells nobody what to do.
 */
export async function explainedNotFound(
  error: unknown,
  client: Pick<KubeClient, 'request'>,
): Promise<unknown> {
  if (!isNotFound(error) || (await hasRukpak(client))) return error;
  return new TerminalError(
    `the cluster does not serve ${group}/${version}: install rukpak-ts on it ("rukpak install", or an overlay of deploy/), or name another cluster with --context or --kubeconfig`,
    { cause: error },
  );
}

async function hasRukpak(client: Pick<KubeClient, 'request'>): Promise<boolean> {
  try {
    await client.request({ method: 'GET', path: `/apis/${group}/${version}` });
    return true;
  } catch (error) {
    // Whoever may not ask that keeps the error that there was.
    return !isNotFound(error);
  }
}
