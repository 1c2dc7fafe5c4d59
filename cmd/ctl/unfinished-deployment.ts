import type { KubernetesObject } from '../../api/meta.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { errorMessage } from '../../core/errors.ts';
import { isNotFound, liveObject } from '../../core/platform/kube/index.ts';
import type { Cluster } from './cluster.ts';

/** An interrupted command removes what it made too; milliseconds. */
const patience = 10_000;

/** The BundleDeployment of this name; undefined where there is none. */
export async function deployed(
  { client }: Cluster,
  name: string,
  signal: AbortSignal,
): Promise<BundleDeployment | undefined> {
  // A list, since a cluster without the kind is an error, and no deployment in it none.
  const fieldSelector = `metadata.name=${name}`;
  const { items } = await client.list(bundleDeploymentResource, { fieldSelector, signal });
  return items.find(({ metadata }) => metadata.name === name) as BundleDeployment | undefined;
}

/**
 * Deletes a BundleDeployment whose content has not come, unless somebody has changed it since it was
 * `made`. What is to be said of the failure, with what became of it.
 */
export async function withoutUnfinished(
  error: unknown,
  made: KubernetesObject,
  cluster: Cluster,
): Promise<Error> {
  const { name = '' } = made.metadata;
  const end = (outcome: string) => new Error(`${errorMessage(error)}${outcome}`, { cause: error });
  try {
    return end(await removal(made, cluster));
  } catch (failure) {
    return end(
      `; BundleDeployment "${name}", which is new, could not be deleted (${errorMessage(failure)}): kubectl delete bundledeployment ${name}`,
    );
  }
}

async function removal({ metadata }: KubernetesObject, { client }: Cluster): Promise<string> {
  const { name = '', uid = '', generation } = metadata;
  const signal = AbortSignal.timeout(patience);
  const target = { resource: bundleDeploymentResource, key: { name } };
  const live = await liveObject(client, target, signal);
  if (live?.metadata.uid !== uid) return '';
  if (live.metadata.generation !== generation) {
    return `; BundleDeployment "${name}" stays, since somebody has changed it meanwhile`;
  }
  try {
    await client.delete(bundleDeploymentResource, { name }, { uid, signal });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
  return `; BundleDeployment "${name}", which was new, is deleted again`;
}
