import type { KubernetesObject } from '../../core/sdk.ts';
import type { ClusterServiceVersion } from './csv/cluster-service-version.ts';

/** What a registry+v1 bundle holds, as validators and generators see it. */
export interface RegistryBundle {
  readonly packageName: string;
  readonly csv: ClusterServiceVersion;
  readonly crds: readonly KubernetesObject[];
  /** Every object that is neither a ClusterServiceVersion nor a CustomResourceDefinition. */
  readonly others: readonly KubernetesObject[];
}
