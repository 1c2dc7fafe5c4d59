import { z } from 'zod';
import type { ServerKeywords } from '../crd/structural-schema.ts';

/** metav1.Condition, with the limits that the API server holds it to. */
export const conditionSchema = z
  .object({
    type: z
      .string()
      .max(316)
      .regex(
        /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
      )
      .describe('Type of the condition, in CamelCase.'),
    status: z
      .enum(['True', 'False', 'Unknown'])
      .describe('Status of the condition: True, False or Unknown.'),
    reason: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .describe('Reason for the status: one CamelCase word, for programs.'),
    message: z.string().max(32768).describe('Explanation of the status, for people. May be empty.'),
    lastTransitionTime: z
      .string()
      .meta({ format: 'date-time' })
      .describe('Time at which the status last changed.'),
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe('The metadata.generation that the condition is based on.'),
  })
  .describe('One aspect of the observed state of the object.');

/** Conditions that server-side apply merges by their type. */
export const conditionsByTypeSchema = z.array(conditionSchema).meta({
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
} satisfies ServerKeywords);

/**
 * Conditions of both kinds by the rules of kstatus, for health checks of kubectl, Flux and Argo CD: Ready
 * is always set, the other two only while they are True.
 */
export const kstatusCondition = {
  ready: 'Ready',
  /** Core continues without a change by a user. */
  reconciling: 'Reconciling',
  /** Core continues only after a user changes something. */
  stalled: 'Stalled',
} as const;

export const readyReason = {
  awaitingUpload: 'AwaitingUpload',
  classAtWork: 'ClassAtWork',
  classNotServed: 'ClassNotServed',
  installed: 'Installed',
  installing: 'Installing',
  reconcileFailed: 'ReconcileFailed',
} as const;

/** Condition types and reasons of a Bundle. */
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

/** Condition types of a BundleDeployment, in order of first appearance. */
export const bundleDeploymentCondition = {
  hasValidBundle: 'HasValidBundle',
  installed: 'Installed',
  healthy: 'Healthy',
  /** Not in RukPak: False while the deployment is blocked, absent otherwise. */
  progressing: 'Progressing',
  /** Not in RukPak: True while objects differ from the bundle and spec.drift.mode is Warn. */
  drifted: 'Drifted',
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
  permissionsMissing: 'PermissionsMissing',
} as const;

/** Reasons of Progressing and Drifted, which RukPak does not have. */
export const progressReason = {
  paused: 'Paused',
  awaitingApproval: 'AwaitingApproval',
  waitingForDependencies: 'WaitingForDependencies',
  waitingForStage: 'WaitingForStage',
  waitingForHook: 'WaitingForHook',
  rollingBack: 'RollingBack',
  rolledBack: 'RolledBack',
  progressDeadlineExceeded: 'ProgressDeadlineExceeded',
  pruneHeld: 'PruneHeld',
  seedChanged: 'SeedChanged',
  generatedValuesChanged: 'GeneratedValuesChanged',
  installNamespaceChanged: 'InstallNamespaceChanged',
  kindNotServed: 'KindNotServed',
  waitingForDependents: 'WaitingForDependents',
  deleting: 'Deleting',
  driftDetected: 'DriftDetected',
} as const;
