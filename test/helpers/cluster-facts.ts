import { connect } from '../../core/platform/kube/index.ts';
import type { ClusterFacts } from '../../core/sdk.ts';

/** What core tells classes of this cluster. */
export async function clusterFacts(kubeconfig: string): Promise<ClusterFacts> {
  const { client, discovery, close } = connect({ kubeconfig, userAgent: 'cluster-facts' });
  try {
    const answer = await client.request({ method: 'GET', path: '/version' });
    const { gitVersion: version } = answer as { readonly gitVersion: string };
    const apiVersions = await discovery.apiVersions();
    return { version, apiVersions, systemNamespace: 'rukpak-system' };
  } finally {
    await close();
  }
}
