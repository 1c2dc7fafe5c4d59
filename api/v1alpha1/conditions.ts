import { z } from 'zod';

/** metav1.Condition, with the limits that the API server holds it to. */
export const conditionSchema = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: z.string(),
  observedGeneration: z.int().optional(),
});

/** Condition types and reasons of a Bundle (spec section 2). */
export const bundleCondition = {
  unpacked: 'Unpacked',
} as const;

export const bundleReason = {
  unpackPending: 'UnpackPending',
  unpacking: 'Unpacking',
  unpackSuccessful: 'UnpackSuccessful',
  unpackFailed: 'UnpackFailed',
  processingFinalizerFailed: 'ProcessingFinalizerFailed',
} as const;

/** Condition types of a BundleDeployment, in order of first appearance (spec section 5.2). */
export const bundleDeploymentCondition = {
  hasValidBundle: 'HasValidBundle',
  installed: 'Installed',
  healthy: 'Healthy',
} as const;

export const bundleDeploymentReason = {
  reconcileFailed: 'ReconcileFailed',
  unpackPending: 'UnpackPending',
  unpackFailed: 'UnpackFailed',
  unpackSuccessful: 'UnpackSuccessful',
  bundleLoadFailed: 'BundleLoadFailed',
  errorGettingClient: 'ErrorGettingClient',
  errorGettingReleaseState: 'ErrorGettingReleaseState',
  installFailed: 'InstallFailed',
  upgradeFailed: 'UpgradeFailed',
  createDynamicWatchFailed: 'CreateDynamicWatchFailed',
  installationSucceeded: 'InstallationSucceeded',
  installationStatusFalse: 'InstallationStatusFalse',
  healthy: 'Healthy',
  unhealthy: 'Unhealthy',
} as const;
