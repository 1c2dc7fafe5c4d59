import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
import {
  type CertificateProvider,
  Certificates,
  defaultCertificates,
} from '../../../core/bundle-deployment/index.ts';
import type { Provisioner } from '../../../core/contracts/provisioner.ts';
import { systemClock } from '../../../core/platform/clock.ts';
import type { BundleFiles, ClusterFacts, JsonObject, KubernetesObject } from '../../../core/sdk.ts';
import { classNameOf, registryClass } from '../../../provisioners/class-of-content.ts';
import type { Cluster } from '../cluster.ts';
import { readClusterFacts } from '../cluster-facts.ts';
import { plainClass } from '../plain-class.ts';
import { renderBundle } from '../render-bundle.ts';
import { liveObjects } from './live-objects.ts';

/** Converted by no handler of a class: their content needs no storing in between. */
const foreseenClasses: ReadonlySet<string> = new Set([plainClass, registryClass]);

export interface UpgradeContent {
  /** With the spec.config that the upgrade is to have. */
  readonly owner: BundleDeployment;
  readonly files: BundleFiles;
  /** Of the bundle; that of the template where absent. */
  readonly className?: string;
  /** Classes besides the built-in ones. */
  readonly thirdParties: readonly Provisioner[];
  readonly certificates: CertificateProvider;
  readonly systemNamespace: string;
  readonly signal: AbortSignal;
}

/**
 * What core would apply of the content for a deployment. Certificates that it would have to make are
 * not in them, those that are there are.
 * @throws TerminalError with the message of the condition.
 */
export async function upgradeObjects(
  cluster: Pick<Cluster, 'client' | 'discovery'>,
  content: UpgradeContent,
): Promise<readonly KubernetesObject[]> {
  const { owner: deployment, certificates, systemNamespace, signal } = content;
  const place = installNamespaceOf(deployment, systemNamespace);
  const facts = await readClusterFacts(cluster, { systemNamespace: place, signal });
  const objects = await renderedObjects(cluster, content, facts);
  const provided = new Certificates({
    ...defaultCertificates,
    ...cluster,
    provider: certificates,
    clock: systemClock,
    events: { event: () => undefined },
    systemNamespace,
  });
  // The user asks, not the account that core would use.
  const { serviceAccount: _, ...spec } = deployment.spec;
  return await provided.foresee({ deployment: { ...deployment, spec }, objects, signal });
}

async function renderedObjects(
  cluster: Pick<Cluster, 'client'>,
  content: UpgradeContent,
  facts: ClusterFacts,
): Promise<readonly KubernetesObject[]> {
  const { owner: deployment, files, thirdParties } = content;
  const wanted = content.className ?? deployment.spec.template.spec.provisionerClassName;
  const { provisionerClassName: deploymentClass, config } = deployment.spec;
  const className = thirdParties.some((each) => each.className === wanted)
    ? wanted
    : classNameOf(files, wanted);
  const isForeseen = deploymentClass === plainClass && foreseenClasses.has(className);
  if (!isForeseen) return await liveObjects(cluster, { ...content, className }, facts);
  const written = className === plainClass ? undefined : config;
  return renderBundle(files, {
    className,
    cluster: facts,
    ...(written === undefined ? {} : { config: written as JsonObject }),
  });
}
