import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { BundleFiles, ContentLimits } from './bundle-files.ts';
import type { Logger } from './logger.ts';

/** Version of this contract; loading refuses a class for another version. */
export const contractVersion = 1;

/** The common context of every handler: only data, without access to the cluster. */
export interface ProvisionerContext {
  /** Aborted when the result is no longer needed: the handler then has a second to end. */
  readonly signal: AbortSignal;
  /** Adds the handled object to each line. */
  readonly logger: Logger;
  /** Limits on stored content; `maxEntries` also limits the number of objects. */
  readonly limits: ContentLimits;
}

/**
 * Facts about the cluster for a class that `uses` them: only data, without access to the cluster.
 */
export interface ClusterFacts {
  /** Of the API server, such as `v1.36.3`. */
  readonly version: string;
  /** Served versions (`v1`, `apps/v1`) and kinds (`v1/Pod`, `apps/v1/Deployment`), sorted. */
  readonly apiVersions: readonly string[];
  /** Namespace for objects that name none. */
  readonly systemNamespace: string;
  /** The cluster's proxies (`proxies.config.openshift.io`); undefined without any. */
  readonly proxy?: ClusterProxy;
}

/** In the format of the variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY; undefined when not set. */
export interface ClusterProxy {
  readonly httpProxy?: string;
  readonly httpsProxy?: string;
  readonly noProxy?: string;
}

/** A key of a ConfigMap or Secret of the system namespace. */
export interface InputReference {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly key: string;
  /** Do not fail when it is missing. */
  readonly optional?: boolean;
}

/** The context of `deployment`. */
export interface DeploymentContext extends ProvisionerContext {
  /** Values of `inputs`, in their order; undefined for a missing optional one. */
  readonly inputs: readonly (Uint8Array | undefined)[];
  /** Set only if the class `uses` it. */
  readonly cluster?: ClusterFacts;
  /**
   * Set only if the class `uses` it: 32 secret random bytes, always the same for one deployment, to
   * generate values that must be random and yet equal at every call.
   */
  readonly seed?: Uint8Array;
  /**
   * True when the deployment already has the same Bundle's content installed. A class must then not
   * wait for anything: otherwise core could not keep the installed objects in place.
   */
  readonly installed?: boolean;
}

/**
 * A provisioner class. It may serve Bundles, BundleDeployments or both, and never accesses the
 * cluster: it only turns content into content, and content into objects.
 */
export interface Provisioner {
  /** The value of spec.provisionerClassName. */
  readonly className: string;
  /** Checks or converts a Bundle's content before it is stored. A throw fails the unpacking. */
  readonly bundle?: BundleHandler;
  /**
   * Adapts a Bundle's stored content to one deployment: to its spec.config and the cluster, before
   * the `deployment` handler of the deployment's class. Pure. Only for a class with `bundle`, and
   * only in a process that also renders the deployment. Another process deploys stored content
   * unchanged, and refuses a deployment with a spec.config.
   */
  readonly configure?: ConfigureHandler;
  /** Turns stored content and a deployment's config into the objects to apply. Pure. */
  readonly deployment?: DeploymentHandler;
  /**
   * Names inputs for `deployment`, which core reads with the deployment's spec.serviceAccount.
   * Pure.
   */
  readonly inputs?: InputsHandler;
  /** Parts of the context that `configure` and `deployment` use. */
  readonly uses?: readonly ('cluster' | 'seed')[];
}

/** The result of `defineProvisioner`. */
export interface DefinedProvisioner extends Provisioner {
  readonly contractVersion: typeof contractVersion;
}

/** Returns the content to store: its input, or other content. */
export type BundleHandler = (
  files: BundleFiles,
  bundle: Bundle,
  context: ProvisionerContext,
) => Promise<BundleFiles>;

/** Returns the content to deploy. The context's `inputs` are empty. */
export type ConfigureHandler = (
  files: BundleFiles,
  deployment: BundleDeployment,
  context: DeploymentContext,
) => Promise<BundleFiles>;

/** Returns the objects to apply. Equal content, deployment and context must give equal objects. */
export type DeploymentHandler = (
  files: BundleFiles,
  deployment: BundleDeployment,
  context: DeploymentContext,
) => Promise<readonly KubernetesObject[]>;

/** Returns the references for `context.inputs` of `deployment`, in this order. */
export type InputsHandler = (
  deployment: BundleDeployment,
  context: ProvisionerContext,
) => Promise<readonly InputReference[]>;
