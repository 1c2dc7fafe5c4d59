import { readdir } from 'node:fs/promises';
import { bundleResource } from '../../../api/v1alpha1/resources.ts';
import { deploymentResource, type KubeClient } from '../../../core/platform/kube/index.ts';
import { eventually } from '../../helpers/eventually.ts';
import { expectInstalled, installedObjects } from '../scale/installed.ts';

interface Installation {
  readonly kube: { readonly client: KubeClient };
  readonly apps: readonly string[];
  /** The folder of the stored archives. */
  readonly archives: string;
}

/** Each app once, each object applied once, one archive a Bundle; retired Bundles go later. */
export async function untilAllIsAsWanted(installation: Installation): Promise<void> {
  await eventually(
    async () => {
      await expectInstalled(installation, 1);
      await expectAppliedOnce(installation);
      await expectOwnArchives(installation);
    },
    { within: 300_000, every: 1_000 },
  );
}

/** The generation shows how often an object was changed. */
async function expectAppliedOnce({ kube }: Installation): Promise<void> {
  const deployments = await installedObjects(kube.client, deploymentResource);
  const changed = deployments.filter(({ metadata }) => metadata.generation !== 1);
  if (changed.length === 0) return;
  const names = changed.map(({ metadata }) => metadata.name).join();
  throw new Error(`changed after they were made: ${names}`);
}

async function expectOwnArchives({ kube, archives }: Installation): Promise<void> {
  const { items } = await kube.client.list(bundleResource);
  const wanted = items.map(({ metadata }) => `${metadata.name}.tgz`).toSorted();
  // Beside them is the folder `kept`.
  const found = (await readdir(archives)).filter((file) => file.endsWith('.tgz')).toSorted();
  if (wanted.join() === found.join()) return;
  throw new Error(`${found.length} archives of ${wanted.length} Bundles: ${found.join()}`);
}
