import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/install-namespace.ts';
import {
  type CertificateProvider,
  defaultCertificates,
} from '../../../core/bundle-deployment/certificates/certificate-options.ts';
import { Certificates } from '../../../core/bundle-deployment/certificates/certificates.ts';
import { systemClock } from '../../../core/clock.ts';
import type { BundleFiles, JsonObject, KubernetesObject } from '../../../core/sdk.ts';
import { classNameOf } from '../class-of-content.ts';
import type { Cluster } from '../cluster.ts';
import { readClusterFacts } from '../cluster-facts.ts';
import { plainClass } from '../plain-class.ts';
import { renderBundle } from '../render-bundle.ts';

export interface UpgradeContent {
  /** With the spec.config that the upgrade is to have. */
  readonly owner: BundleDeployment;
  readonly files: BundleFiles;
  /** That of the template where absent. */
  readonly className?: string;
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
  const { owner: deployment, files, certificates, systemNamespace, signal } = content;
  const className = classNameOf(
    files,
    content.className ?? deployment.spec.template.spec.provisionerClassName,
  );
  const config = className === plainClass ? undefined : deployment.spec.config;
  const place = installNamespaceOf(deployment, systemNamespace);
  const facts = await readClusterFacts(cluster, { systemNamespace: place, signal });
  const objects = renderBundle(files, {
    className,
    cluster: facts,
    ...(config === undefined ? {} : { config: config as JsonObject }),
  });
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
