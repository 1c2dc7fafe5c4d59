import { bundleCRD, bundleDeploymentCRD } from '../../api/crd.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/index.ts';
import { definitionEstablished } from '../../cmd/install.ts';
import { connect, definitionResource } from '../../core/platform/kube/index.ts';
import { eventually } from './eventually.ts';

/** Our own kinds, as they are deployed and served; they stay. */
export async function installCrds(kubeconfig: string): Promise<void> {
  const { client, close } = connect({ kubeconfig, userAgent: 'tests' });
  try {
    for (const crd of [bundleCRD(), bundleDeploymentCRD()] as readonly KubernetesObject[]) {
      await client.apply(definitionResource, crd, { fieldManager: 'rukpak-install', force: true });
      await definitionEstablished(client, definitionResource, crd.metadata.name ?? '');
    }
    // The server serves an established kind a moment later.
    for (const resource of [bundleResource, bundleDeploymentResource]) {
      await eventually(async () => await client.list(resource, { limit: 1 }));
    }
  } finally {
    await close();
  }
}
