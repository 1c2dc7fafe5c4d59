import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../core/errors.ts';
import { isNotFound, type KubeClient } from '../../core/platform/kube/index.ts';

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
