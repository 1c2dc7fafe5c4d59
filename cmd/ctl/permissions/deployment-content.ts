import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import { bundleName, templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import type { InventoryEntry } from '../../../core/apply/index.ts';
import { storedLimits, unpackBundle } from '../../../core/content/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import {
  type BundleFiles,
  type ClusterFacts,
  defaultLimits,
  type KubernetesObject,
} from '../../../core/sdk.ts';
import { plainClass } from '../../../provisioners/class-of-content.ts';
import registry from '../../../provisioners/registry/index.ts';
import type { Cluster } from '../cluster.ts';
import { renderBundle } from '../content/render-content.ts';
import { readClusterFacts } from '../deployments/cluster-facts.ts';
import type { ServerFlags } from '../flags.ts';
import { ownedObjects } from '../objects/owned-objects.ts';
import { warningLogger } from '../output/loggers.ts';
import { withArchive } from '../server/read-content.ts';

interface DeploymentContentRequest {
  readonly name: string;
  readonly systemNamespace: string;
  readonly server: ServerFlags;
  readonly signal: AbortSignal;
}

/** A BundleDeployment with its wanted and present objects. */
export interface DeploymentContent {
  readonly deployment: BundleDeployment;
  /** Objects of its template's Bundle. */
  readonly objects: readonly KubernetesObject[];
  readonly owned: readonly InventoryEntry[];
}

/** @throws TerminalError when its Bundle is not unpacked yet. */
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
  const place = installNamespaceOf(deployment, systemNamespace);
  const facts = await readClusterFacts(cluster, { systemNamespace: place, signal });
  return {
    deployment,
    objects: await storedObjects({ files, deployment, cluster: facts, signal }),
    owned: inventory.ownedBy(name),
  };
}

interface StoredContent {
  /** From the content server. */
  readonly files: BundleFiles;
  readonly deployment: BundleDeployment;
  readonly cluster: ClusterFacts;
  readonly signal: AbortSignal;
}

/**
 * The objects that core renders from stored content: content of a registry bundle is adapted to
 * spec.config first.
 * @throws TerminalError with the message of the condition.
 */
async function storedObjects({
  files,
  deployment,
  cluster,
  signal,
}: StoredContent): Promise<readonly KubernetesObject[]> {
  const { provisionerClassName: className } = deployment.spec.template.spec;
  const context = { cluster, inputs: [], limits: defaultLimits, logger: warningLogger, signal };
  const adapted =
    className === registry.className
      ? await registry.configure?.(files, deployment, context)
      : undefined;
  return renderBundle(adapted ?? files, { className: plainClass });
}

/** Only the process of another class can render its objects. */
function mustBePlain({ metadata, spec }: BundleDeployment): void {
  if (spec.provisionerClassName === plainClass) return;
  throw new TerminalError(
    `BundleDeployment "${metadata.name}" is of class "${spec.provisionerClassName}": only what class "${plainClass}" applies can be foreseen`,
  );
}
