import type {
  BundleDeployment,
  BundleDeploymentSpec,
} from '../../../api/v1alpha1/bundle-deployment.ts';
import { digestOf } from '../fields/projection.ts';

/** Digest of everything that objects are rendered from, besides the Bundle and facts. */
export function renderingOf({ provisionerClassName, config }: BundleDeploymentSpec): string {
  return digestOf([provisionerClassName, config ?? null]);
}

/**
 * Whether core has completely applied the present class and config, and nothing else since; what
 * waits to be deleted does not count. The conditions do not tell it: after an error of the API server
 * they may be those of the spec before. Undefined when an earlier version of core, which recorded
 * nothing, wrote the status.
 */
export function hasAppliedSpec({ spec, status = {} }: BundleDeployment): boolean | undefined {
  const { applied, waitingDeletions } = status;
  const records = [applied, waitingDeletions].filter((record) => record !== undefined);
  if (records.length === 0) return undefined;
  const rendering = renderingOf(spec);
  const isCurrent = applied?.superseded !== true && applied?.rendering === rendering;
  return isCurrent || waitingDeletions?.rendering === rendering;
}
