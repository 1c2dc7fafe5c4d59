import { kubernetesVersion } from './kubernetes-version.ts';
import type { Requirement } from './requirement.ts';
import { servedKinds } from './served-kinds.ts';

/** In order of checking, before anything is created: the first that is not met is reported. */
export const requirements: readonly Requirement[] = [kubernetesVersion, servedKinds];
