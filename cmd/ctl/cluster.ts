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

/** The cluster that a command talks to, with the user's own identity. */
export interface Cluster extends Pick<KubeConnection, 'client' | 'discovery' | 'clockOffset'> {
  readonly config: Kubeconfig;
  /** User of the flag --as. */
  readonly actsAs?: string;
  /** Aborted by Ctrl-C and SIGTERM. */
  readonly signal: AbortSignal;
  /** The user's credentials for the API server. */
  credentials(): Promise<Credentials>;
}

/** Connects while `work` runs; `onWarning` receives the API server's warnings. */
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
 * The error to print: a cluster without RukPak answers `404 page not found` to every request, which
 * does not tell the user what to do.
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
    // Without permission to list the API groups, the original error stays.
    return !isNotFound(error);
  }
}
