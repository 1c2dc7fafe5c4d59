// Apart from failures, whose client of the API server the rules of content (content-rules.ts) do not need.
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';

/** `install` and `upgrade` of a set, or `reconcile`: putting back what was applied before. */
export type Operation = 'install' | 'upgrade' | 'reconcile';

/** The reason of a condition after a refused operation. */
export const failedReason = {
  install: bundleDeploymentReason.installFailed,
  upgrade: bundleDeploymentReason.upgradeFailed,
  reconcile: bundleDeploymentReason.reconcileFailed,
} as const;
