import type { ClusterFacts } from '../../../core/sdk.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** Says what a bundle needs that a cluster does not have yet, or nothing. Pure. */
export type Requirement = (bundle: RegistryBundle, cluster: ClusterFacts) => string | undefined;
