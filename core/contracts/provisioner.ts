import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { BundleFiles, ContentLimits } from './bundle-files.ts';
import type { Logger } from './logger.ts';

export interface ProvisionerContext {
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly limits: ContentLimits;
}

/**
 * A provisioner class (spec section 8). It may serve Bundles, BundleDeployments or both, and never
 * reaches the cluster: it only turns content into content, and content into objects.
 */
export interface Provisioner {
  /** The value of spec.provisionerClassName that it serves. */
  readonly className: string;
  /** Checks or converts a Bundle's content before it is stored. A throw fails the unpacking. */
  readonly bundle?: BundleHandler;
  /** Turns stored content and a deployment's config into the objects to apply. Pure. */
  readonly deployment?: DeploymentHandler;
}

export type BundleHandler = (
  files: BundleFiles,
  bundle: Bundle,
  context: ProvisionerContext,
) => Promise<BundleFiles>;

export type DeploymentHandler = (
  files: BundleFiles,
  deployment: BundleDeployment,
  context: ProvisionerContext,
) => Promise<readonly KubernetesObject[]>;
