import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { bundleName, templateHash } from '../../../api/v1alpha1/template-hash.ts';
import type { InventoryEntry } from '../../../core/apply/index.ts';
import { defaultLimits, storedLimits, unpackBundle } from '../../../core/content/index.ts';
import type { KubernetesObject } from '../../../core/sdk.ts';
import type { Cluster } from '../cluster.ts';
import { readClusterFacts } from '../cluster-facts.ts';
import { ownedObjects } from '../owned-objects.ts';
import { mustBePlain } from '../plain-class.ts';
import { withArchive } from '../read-content.ts';
import type { ServerFlags } from '../server-flags.ts';
import { storedObjects } from '../stored-objects.ts';

export interface DeploymentContentRequest {
  readonly name: string;
  readonly systemNamespace: string;
  readonly server: ServerFlags;
  readonly signal: AbortSignal;
}

/** A BundleDeployment and what it is to have, and has. */
export interface DeploymentContent {
  readonly deployment: BundleDeployment;
  /** Of the Bundle of its template. */
  readonly objects: readonly KubernetesObject[];
  readonly owned: readonly InventoryEntry[];
}

/** @throws TerminalError where its Bundle is not unpacked yet. */
export async function deploymentContent(
  cluster: Cluster,
  { name, systemNamespace, server, signal }: DeploymentContentRequest,
): Promise<DeploymentContent> {
  const live = await cluster.client.get(bundleDeploymentResource, { name }, signal);
  const deployment = live as BundleDeployment;
  mustBePlain(deployment);
  const bundle = bundleName(name, templateHash(deployment.spec.template));
  const request = { bundle, server: { ...server, namespace: systemNamespace }, signal };
  const limits = storedLimits(defaultLimits);
  const files = await withArchive(cluster, request, (archive) =>
    unpackBundle(archive, { limits, signal }),
  );
  const { inventory } = await ownedObjects(cluster, { owner: deployment, systemNamespace, signal });
  const facts = await readClusterFacts(cluster, { systemNamespace, signal });
  return {
    deployment,
    objects: await storedObjects({ files, deployment, cluster: facts, signal }),
    owned: inventory.ownedBy(name),
  };
}
