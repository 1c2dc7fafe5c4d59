import type { KubernetesObject } from '../../api/meta.ts';
import type { Bundle } from '../../api/v1alpha1/bundle.ts';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import type { BundleFiles, ContentLimits } from './bundle-files.ts';
import type { Logger } from './logger.ts';

/** Of this contract; a class written for another one is refused when it is loaded. */
export const contractVersion = 1;

/** What every handler is given besides content and object: data, and no way to reach anything. */
export interface ProvisionerContext {
  /** Aborted when nobody waits for the result any more: the handler then has a second to end. */
  readonly signal: AbortSignal;
  /** Its lines carry the object that is handled. */
  readonly logger: Logger;
  /** Of what is stored, and `maxEntries` of the number of objects too. */
  readonly limits: ContentLimits;
}

/** What a class that `uses` it is told of the cluster: data, and no way to reach it. */
export interface ClusterFacts {
  /** Of the API server, such as `v1.36.3`. */
  readonly version: string;
  /** What it serves: versions (`v1`, `apps/v1`) and kinds (`v1/Pod`, `apps/v1/Deployment`), sorted. */
  readonly apiVersions: readonly string[];
  /** Where objects without a namespace go. */
  readonly systemNamespace: string;
  /** What the cluster says its proxies are (`proxies.config.openshift.io`); absent where nothing. */
  readonly proxy?: ClusterProxy;
}

/** As the variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY have them; absent is not set. */
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
  /** Its absence is no error. */
  readonly optional?: boolean;
}

/** What `deployment` is given besides content and object. */
export interface DeploymentContext extends ProvisionerContext {
  /** What `inputs` asked for, in that order; undefined for what is optional and not there. */
  readonly inputs: readonly (Uint8Array | undefined)[];
  /** Only where the class `uses` it. */
  readonly cluster?: ClusterFacts;
  /**
   * Only where the class `uses` it: 32 bytes that nobody can guess, for one deployment always the
   * same, for whatever must be random and yet be the same at every call.
   */
  readonly seed?: Uint8Array;
  /**
   * True where the same Bundle's content is what the deployment has installed. What a class waits
   * for before that must not hold up that it is kept as it is.
   */
  readonly installed?: boolean;
}

/**
 * A provisioner class. It may serve Bundles, BundleDeployments or both, and never
 * reaches the cluster: it only turns content into content, and content into objects.
 */
export interface Provisioner {
  /** The value of spec.provisionerClassName that it serves. */
  readonly className: string;
  /** Checks or converts a Bundle's content before it is stored. A throw fails the unpacking. */
  readonly bundle?: BundleHandler;
  /**
   * Adapts a Bundle's stored content to one deployment of it, to its spec.config and the cluster,
   * before `deployment` of the deployment's class, whichever that is, sees it. Pure. Only for a class
   * with `bundle`: the process that renders the deployment calls it where it serves this class too.
   * Another process deploys stored content as it is, and refuses a deployment with a spec.config.
   */
  readonly configure?: ConfigureHandler;
  /** Turns stored content and a deployment's config into the objects to apply. Pure. */
  readonly deployment?: DeploymentHandler;
  /** What `deployment` is to be given besides: read as the deployment's spec.serviceAccount. Pure. */
  readonly inputs?: InputsHandler;
  /** What of the context `configure` and `deployment` use. */
  readonly uses?: readonly ('cluster' | 'seed')[];
}

/** As `defineProvisioner` returns it. */
export interface DefinedProvisioner extends Provisioner {
  readonly contractVersion: typeof contractVersion;
}

/** Gives the content to store: the given one, or another. */
export type BundleHandler = (
  files: BundleFiles,
  bundle: Bundle,
  context: ProvisionerContext,
) => Promise<BundleFiles>;

/** Gives the content that is to be deployed. `inputs` of its context are empty. */
export type ConfigureHandler = (
  files: BundleFiles,
  deployment: BundleDeployment,
  context: DeploymentContext,
) => Promise<BundleFiles>;

/** Gives the objects to apply. The same content, deployment and context give the same objects. */
export type DeploymentHandler = (
  files: BundleFiles,
  deployment: BundleDeployment,
  context: DeploymentContext,
) => Promise<readonly KubernetesObject[]>;

/** Names what `deployment` is to find in `context.inputs`, in this order. */
export type InputsHandler = (
  deployment: BundleDeployment,
  context: ProvisionerContext,
) => Promise<readonly InputReference[]>;
