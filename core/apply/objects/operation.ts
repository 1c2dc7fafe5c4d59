// Separate from failures.ts, because the rules of content (content-rules.ts) must not load the API
// client.
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';

/** `install` and `upgrade` of a set, or `reconcile`: a repair of applied objects. */
export type Operation = 'install' | 'upgrade' | 'reconcile';

/** Condition reason when an operation is refused. */
export const failedReason = {
  install: bundleDeploymentReason.installFailed,
  upgrade: bundleDeploymentReason.upgradeFailed,
  reconcile: bundleDeploymentReason.reconcileFailed,
} as const;
