import { catalogResource } from '../../api/catalogd/v1alpha1/index.ts';
import type { KubernetesObject } from '../../api/meta.ts';
import { clusterCatalogResource, clusterExtensionResource } from '../../api/olm/v1/index.ts';
import { operatorResource } from '../../api/operators/v1alpha1/index.ts';
import { bundleDeploymentResource, bundleResource } from '../../api/v1alpha1/index.ts';
import { definitionEstablished } from '../../cmd/installation/install.ts';
import {
  connect,
  definitionResource,
  isNotFound,
  type KubeClient,
  type Resource,
} from '../../core/platform/kube/index.ts';
import { definitionsByFolder } from '../../deploy/crd-files.ts';
import { eventually } from './eventually.ts';

/** Bundle and BundleDeployment, as they are deployed and served; they stay. */
export async function installCrds(kubeconfig: string): Promise<void> {
  await install(kubeconfig, 'crds', [bundleResource, bundleDeploymentResource]);
}

const operatorKinds = [
  catalogResource,
  operatorResource,
  clusterCatalogResource,
  clusterExtensionResource,
];

/** The kinds of OLM 1.0, for a file that removes them at its end: other files are without them. */
export async function installOperatorCrds(kubeconfig: string): Promise<void> {
  await install(kubeconfig, 'operators/crds', operatorKinds);
}

/** Also deletes the objects of these kinds. */
export async function removeOperatorCrds(kubeconfig: string): Promise<void> {
  await onCluster(kubeconfig, async (client) => {
    const keys = definitionsIn('operators/crds').map(({ metadata }) => ({
      name: metadata.name ?? '',
    }));
    // At once: the API server takes some seconds to empty each.
    await Promise.all(
      keys.map(async (key) => {
        await client.delete(definitionResource, key).catch(unlessMissing);
      }),
    );
    await eventually(async () => {
      for (const key of keys) {
        const left = await client.get(definitionResource, key).catch(unlessMissing);
        if (left !== undefined) throw new Error(`CRD ${key.name} still exists`);
      }
    });
  });
}

async function install(
  kubeconfig: string,
  folder: string,
  resources: readonly Resource[],
): Promise<void> {
  await onCluster(kubeconfig, async (client) => {
    for (const crd of definitionsIn(folder)) {
      await client.apply(definitionResource, crd, { fieldManager: 'rukpak-install', force: true });
      await definitionEstablished(client, definitionResource, crd.metadata.name ?? '');
    }
    // The server serves an established kind a moment later.
    for (const resource of resources) {
      await eventually(async () => await client.list(resource, { limit: 1 }));
    }
  });
}

function definitionsIn(folder: string): readonly KubernetesObject[] {
  return definitionsByFolder().get(folder) ?? [];
}

async function onCluster(
  kubeconfig: string,
  work: (client: KubeClient) => Promise<void>,
): Promise<void> {
  const { client, close } = connect({ kubeconfig, userAgent: 'tests' });
  try {
    await work(client);
  } finally {
    await close();
  }
}

function unlessMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
