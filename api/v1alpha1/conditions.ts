import { z } from 'zod';

/** metav1.Condition, with the limits that the API server holds it to. */
export const conditionSchema = z
  .object({
    type: z
      .string()
      .max(316)
      .regex(
        /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
      )
      .describe('What the condition is about, in CamelCase.'),
    status: z
      .enum(['True', 'False', 'Unknown'])
      .describe('Whether the condition holds: True, False or Unknown.'),
    reason: z
      .string()
      .min(1)
      .max(1024)
      .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
      .describe('Why the status is what it is: one CamelCase word for programs.'),
    message: z
      .string()
      .max(32768)
      .describe('Why the status is what it is: a sentence for people. May be empty.'),
    lastTransitionTime: z
      .string()
      .meta({ format: 'date-time' })
      .describe('When the status last changed from one value to another.'),
    observedGeneration: z
      .int()
      .min(0)
      .optional()
      .describe('The metadata.generation that the condition was set upon.'),
  })
  .describe('One aspect of the current state of the object.');

/**
 * What health checks of kubectl, Flux and Argo CD read of both kinds, by the rules of kstatus: Ready is
 * always there, the other two only while they are True.
 */
export const kstatusCondition = {
  ready: 'Ready',
  /** Core goes on by itself. */
  reconciling: 'Reconciling',
  /** Core does not go on before somebody changes something. */
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
  /** Ours: False where something holds the deployment up, absent where nothing does. */
  progressing: 'Progressing',
  /** Ours: True where objects differ and drift is only told of. */
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

/** Reasons of Progressing and Drifted, which RukPak does not know. */
export const progressReason = {
  paused: 'Paused',
  awaitingApproval: 'AwaitingApproval',
  waitingForDependencies: 'WaitingForDependencies',
  waitingForStage: 'WaitingForStage',
  waitingForHook: 'WaitingForHook',
  rolledBack: 'RolledBack',
  progressDeadlineExceeded: 'ProgressDeadlineExceeded',
  pruneHeld: 'PruneHeld',
  seedChanged: 'SeedChanged',
  installNamespaceChanged: 'InstallNamespaceChanged',
  kindNotServed: 'KindNotServed',
  waitingForDependents: 'WaitingForDependents',
  deleting: 'Deleting',
  driftDetected: 'DriftDetected',
} as const;
