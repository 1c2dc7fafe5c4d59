import { z } from 'zod';
import { bundleTemplateSchema } from './bundle.ts';
import {
  approvalStatusSchema,
  objectRefSchema,
  planStatusSchema,
  timeSchema,
} from './deployment-plan.ts';

/** Fields of a BundleDeployment's status that RukPak's API does not have. Each is set only when the spec needs it. */

export const appliedStatusSchema = z
  .object({
    bundle: z.string().describe('Name of the Bundle.'),
    uid: z.string().describe('UID of the Bundle.'),
    rendering: z.string().describe('Digest of the class and the config.'),
    inputs: z.string().optional().describe('Digest of the input values that the config refers to.'),
    seed: z.string().optional().describe('Identity of the seed for generated values.'),
    secrets: z
      .string()
      .optional()
      .describe(
        'Digest of the rendered Secrets, keyed with the seed. Only of classes that use the seed.',
      ),
    objects: z
      .string()
      .optional()
      .describe('Digest of all rendered objects. Only with upgradePolicy Manual.'),
    kubernetes: z.string().optional().describe('Version of the API server.'),
    apiGroups: z
      .array(z.string())
      .optional()
      .describe('API groups that the API server served besides those of Kubernetes.'),
    superseded: z
      .boolean()
      .optional()
      .describe('True after core began to apply another Bundle, config or input.'),
    begun: z.string().optional().describe('Name of the Bundle that core began to apply since.'),
  })
  .describe(
    'Content that core last applied completely. Core deletes objects without confirmation only when the Bundle, the config or an input differs from it.',
  );

export const waitingDeletionsSchema = appliedStatusSchema
  .pick({ uid: true, rendering: true, inputs: true, seed: true, kubernetes: true, apiGroups: true })
  .extend({
    objects: z.array(z.string()).describe('Short digests of the objects and their UIDs.'),
  })
  .describe(
    'Deletions that wait since core completely applied this content, for confirmation or until all objects are healthy. Core asks for confirmation of all others.',
  );

export const progressStatusSchema = z
  .object({
    bundle: z.string().describe('Name of the Bundle that core is rolling out or rolled out last.'),
    startedAt: timeSchema.describe('Time at which core first applied the Bundle.'),
    healthyAt: timeSchema.optional().describe('Time at which the Bundle was first healthy.'),
    secondsToHealthy: z.int().optional().describe('Seconds from startedAt to healthyAt.'),
  })
  .describe('Rollout of the current Bundle.');

export const rollbackStatusSchema = z
  .object({
    from: z.string().describe('Name of the Bundle that was not healthy in time.'),
    to: z.string().describe('Name of the Bundle that core rolled back to.'),
    uid: z
      .string()
      .optional()
      .describe(
        'UID of that Bundle. With upgradePolicy Manual, core does not apply a new Bundle of the same name without approval.',
      ),
    reason: z.string().describe('Reason for the rollback.'),
    at: timeSchema.describe('Time of the rollback.'),
  })
  .describe('Automatic rollback in effect. It ends with the next change of the template.');

export const revisionSchema = z.object({
  revision: z.int().describe('Number of the revision, counted from 1.'),
  bundle: z.string().describe('Name of the Bundle.'),
  template: bundleTemplateSchema.describe(
    'Template of the revision. Setting spec.template to it rolls back to the revision.',
  ),
  appliedAt: timeSchema.describe('Time at which core first applied the Bundle.'),
  appliedBy: z
    .string()
    .optional()
    .describe('User or field manager that set the template, if known.'),
  healthyAt: timeSchema.optional().describe('Time at which the Bundle was first healthy.'),
  rolledBackAt: timeSchema.optional().describe('Time at which core rolled back from the Bundle.'),
});

export const heldPruneSchema = z
  .object({
    digest: z
      .string()
      .describe(
        'Digest of these deletions. The annotation core.rukpak.io/confirm-prune with this value confirms exactly them.',
      ),
    reason: z.string().describe('Reason why the deletions need confirmation.'),
    count: z.int().describe('Number of objects that wait for deletion.'),
    objects: z.array(objectRefSchema).describe('First objects that wait for deletion.'),
  })
  .describe('Deletions that wait for confirmation.');

export const finishedObjectSchema = objectRefSchema.extend({
  outcome: z
    .enum(['Succeeded', 'Failed', 'Unknown'])
    .describe('Result of the Job or Pod. Unknown when it was deleted while core did not run.'),
  digest: z
    .string()
    .describe('Digest of the rendered spec. Core runs the object again when the spec changes.'),
});

export const finishedSchema = z
  .object({
    bundle: z
      .string()
      .describe(
        'Name of the Bundle that contains the objects. Core runs them again for another Bundle.',
      ),
    objects: z.array(finishedObjectSchema).describe('First 500 finished objects.'),
  })
  .describe('Finished Jobs and Pods. Core does not create them again after their deletion.');

export const hookRunSchema = z
  .object({
    event: z.string().describe('Event of the hooks, for example pre-install.'),
    revision: z.string().describe('Digest of the objects and hooks of the run.'),
    startedAt: timeSchema.describe(
      'Time at which the run began. It identifies the objects of the run.',
    ),
    completed: z.int().describe('Number of hooks of the event that succeeded, in order.'),
    failures: z.int().optional().describe('Number of failures of the next hook.'),
    failure: z.string().optional().describe('Message of the last failure.'),
    retryAt: timeSchema.optional().describe('Time of the next attempt.'),
    finishedAt: timeSchema
      .optional()
      .describe(
        'Time at which all pre-delete hooks had run. Core deletes the objects from then on, and runs none of these hooks again.',
      ),
  })
  .describe('Current or last run of the hooks of one event.');

export const hooksStatusSchema = z
  .object({
    applied: z
      .string()
      .optional()
      .describe('Digest of the objects and hooks that core last applied and ran completely.'),
    onDelete: z
      .int()
      .optional()
      .describe('Number of hooks that run when the deployment is deleted.'),
    run: hookRunSchema.optional(),
  })
  .describe('Progress of hooks. Set only when the bundle has hooks.');

/** The optional fields of a BundleDeployment's status. */
export const deploymentProgress = {
  plan: planStatusSchema.optional(),
  approval: approvalStatusSchema.optional(),
  applied: appliedStatusSchema.optional(),
  waitingDeletions: waitingDeletionsSchema.optional(),
  progress: progressStatusSchema.optional(),
  rollback: rollbackStatusSchema.optional(),
  history: z
    .array(revisionSchema)
    .optional()
    .describe('Revisions: the Bundles that core applied last, the latest first.'),
  installNamespace: z
    .string()
    .optional()
    .describe(
      'Namespace in which core installs namespaced objects without a namespace. It does not change after the first installation.',
    ),
  groupKinds: z
    .array(z.string())
    .optional()
    .describe(
      'Kinds of which core may have applied objects, as Kind.group. Core finds objects of earlier versions by them, also when somebody removed the annotation applyset.kubernetes.io/contains-group-kinds.',
    ),
  heldPrune: heldPruneSchema.optional(),
  hooks: hooksStatusSchema.optional(),
  finished: finishedSchema.optional(),
};

export interface AppliedStatus extends z.infer<typeof appliedStatusSchema> {}
export interface WaitingDeletions extends z.infer<typeof waitingDeletionsSchema> {}
export interface ProgressStatus extends z.infer<typeof progressStatusSchema> {}
export interface RollbackStatus extends z.infer<typeof rollbackStatusSchema> {}
export interface Revision extends z.infer<typeof revisionSchema> {}
export interface HeldPrune extends z.infer<typeof heldPruneSchema> {}
export interface FinishedObject extends z.infer<typeof finishedObjectSchema> {}
export interface HookRun extends z.infer<typeof hookRunSchema> {}
export interface HooksStatus extends z.infer<typeof hooksStatusSchema> {}
