import { finalizer } from '../../api/v1alpha1/labels.ts';
import { bundleDeploymentResource as resource } from '../../api/v1alpha1/resources.ts';
import { applySetKey } from '../../core/apply/index.ts';
import {
  isConflict,
  isNotFound,
  type KubeClient,
  listAll,
} from '../../core/platform/kube/index.ts';

interface ReturnOptions {
  readonly client: Pick<KubeClient, 'get' | 'list' | 'patch'>;
  readonly dryRun: boolean;
  readonly print: (line: string) => void;
}

const attempts = 5;

/**
 * Prepares BundleDeployments for RukPak v0.16: removes core's finalizer, which RukPak would never
 * remove, and the label by which a later migration would take them for core's own.
 */
export async function returnToRukpak({ client, dryRun, print }: ReturnOptions): Promise<void> {
  const options = { metadataOnly: true, transform: ({ metadata }: Named) => metadata.name ?? '' };
  for (const name of (await listAll(client, resource, options)).items) {
    if (!dryRun) await release(client, name);
    print(`bundledeployment.core.rukpak.io/${name} released${dryRun ? ' (dry run)' : ''}`);
  }
}

interface Named {
  readonly metadata: { readonly name?: string };
}

async function release(client: ReturnOptions['client'], name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { metadata } = await client.get(resource, { name });
      const { uid, resourceVersion, finalizers = [] } = metadata;
      const left = finalizers.filter((each) => each !== finalizer.deleteObjects);
      const labels = { [applySetKey.id]: null };
      const patch = { metadata: { uid, resourceVersion, finalizers: left, labels } };
      await client.patch({ resource, key: { name } }, patch, { type: 'merge' });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === attempts) throw error;
    }
  }
}
