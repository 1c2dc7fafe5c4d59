import type { KubernetesObject } from '../../api/meta.ts';
import type { DeletionPolicy } from '../../api/v1alpha1/index.ts';
import type { Resource } from '../../core/controller.ts';
import type { PackageRequest } from '../../resolver/olm1/index.ts';
import type { CatalogIdentity, CatalogKind } from '../catalogs/index.ts';
import type { Findings } from './findings.ts';

/** What an Operator or ClusterExtension asks for. */
export interface Extension {
  readonly object: KubernetesObject;
  /** `Operator/painter`. */
  readonly id: string;
  /** Also the name of its BundleDeployment. */
  readonly name: string;
  readonly request: Omit<PackageRequest, 'installed'>;
  readonly usesCatalog: (catalog: CatalogIdentity) => boolean;
  /** Undefined without a spec: the BundleDeployment stays as it is. */
  readonly settings: DeploymentSettings | undefined;
}

/** What the BundleDeployment gets besides the bundle. */
export interface DeploymentSettings {
  readonly installNamespace?: string | undefined;
  /** In `installNamespace`. */
  readonly serviceAccount?: string | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  /** Changes of CRDs are not checked against existing custom resources. */
  readonly skipsCrdUpgradeSafety?: boolean | undefined;
  /** A duration, such as `10m`. */
  readonly progressDeadline?: string | undefined;
  /** A duration: core goes back to the last healthy bundle after it. */
  readonly rollbackDeadline?: string | undefined;
  /** Defaults to core's own. */
  readonly deletionPolicy?: DeletionPolicy | undefined;
}

/** One API for extensions: how its objects are read, and how their status is written. */
export interface ExtensionKind {
  readonly resource: Resource;
  readonly catalogKind: CatalogKind;
  read(object: KubernetesObject): Extension;
  /** The whole new status. */
  status(findings: Findings): object;
}
