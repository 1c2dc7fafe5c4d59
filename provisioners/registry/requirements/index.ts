import type { ClusterFacts } from '../../../core/sdk.ts';
import type { RegistryBundle } from '../registry-bundle.ts';
import { kubernetesVersion } from './kubernetes-version.ts';
import { servedKinds } from './served-kinds.ts';

/** Says what a bundle needs that a cluster does not have yet, or nothing. Pure. */
export type Requirement = (bundle: RegistryBundle, cluster: ClusterFacts) => string | undefined;

/** In order of checking, before anything is created: the first that is not met is reported. */
export const requirements: readonly Requirement[] = [kubernetesVersion, servedKinds];
