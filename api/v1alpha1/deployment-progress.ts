import { z } from 'zod';
import { bundleTemplateSchema } from './bundle-template.ts';

/** What a BundleDeployment's status says beyond RukPak's API; each part only where it is asked for. */

const timeSchema = z.string().meta({ format: 'date-time' });

export const objectRefSchema = z.object({
  group: z.string().describe('API group; empty for the core group.'),
  kind: z.string().describe('Kind of the object.'),
  namespace: z.string().optional().describe('Absent for cluster-scoped objects.'),
  name: z.string().describe('Name of the object.'),
});

export const plannedChangeSchema = objectRefSchema.extend({
  action: z.enum(['Create', 'Change', 'Delete']).describe('What would happen to the object.'),
  fields: z
    .array(z.string())
    .optional()
    .describe('Paths of the fields that would change; the first ones of many.'),
});

export const planStatusSchema = z
  .object({
    bundle: z.string().describe('Name of the Bundle that would be applied.'),
    digest: z
      .string()
      .describe('Approves exactly this plan: the annotation core.rukpak.io/approve takes it.'),
    createdAt: timeSchema.describe('When the plan was made.'),
    create: z.int().describe('Number of objects that would be created.'),
    change: z.int().describe('Number of objects that would be changed.'),
    delete: z.int().describe('Number of objects that would be deleted.'),
    unchanged: z.int().describe('Number of objects that would stay as they are.'),
    changes: z
      .array(plannedChangeSchema)
      .describe('The first changes; all of them are in the full plan that rukpakctl plan shows.'),
    hooks: z
      .array(z.string())
      .optional()
      .describe('The first hooks that would run, in their order, each with its event.'),
    truncated: z.boolean().optional().describe('True where changes are missing in the list.'),
    problems: z
      .array(z.string())
      .optional()
      .describe('Why the plan would fail, and cannot be approved; the first of them.'),
  })
  .describe('What would be done, waiting for approval.');

export const approvalStatusSchema = z
  .object({
    bundle: z.string().describe('Name of the Bundle.'),
    uid: z.string().describe('UID of the Bundle: one that is made again may have other content.'),
    rendering: z
      .string()
      .describe('Digest of the class and the config that its objects are made with.'),
    objects: z
      .string()
      .optional()
      .describe('Digest of all rendered objects, and of their namespace.'),
    digest: z
      .string()
      .optional()
      .describe('Digest of the plan that was approved; absent for what was there before.'),
    approvedAt: timeSchema.optional().describe('When the approval was seen.'),
  })
  .describe('What may be applied, and is kept in place, without another approval.');

export const appliedStatusSchema = z
  .object({
    bundle: z.string().describe('Name of the Bundle.'),
    uid: z.string().describe('UID of the Bundle.'),
    rendering: z.string().describe('Digest of the class and the config.'),
    inputs: z.string().optional().describe('Digest of the values that the config names.'),
    seed: z.string().optional().describe('Identity of the seed of generated values.'),
    objects: z
      .string()
      .optional()
      .describe('Digest of all rendered objects; only with upgradePolicy Manual.'),
    kubernetes: z.string().optional().describe('Version of the API server.'),
    apiGroups: z.array(z.string()).optional().describe('API groups of others that it served.'),
    superseded: z
      .boolean()
      .optional()
      .describe('True once core has begun to apply another Bundle, config or input since.'),
  })
  .describe(
    'What was applied completely last. Core deletes an object unasked only where the Bundle, the config or an input differs from it.',
  );

export const progressStatusSchema = z
  .object({
    bundle: z.string().describe('Name of the Bundle that is being, or was last, brought out.'),
    startedAt: timeSchema.describe('When it was first applied.'),
    healthyAt: timeSchema.optional().describe('When it was healthy for the first time.'),
    secondsToHealthy: z.int().optional().describe('Seconds between the two.'),
  })
  .describe('How far the current Bundle is.');

export const rollbackStatusSchema = z
  .object({
    from: z.string().describe('Name of the Bundle that was not healthy in time.'),
    to: z.string().describe('Name of the Bundle that was gone back to.'),
    reason: z.string().describe('Why.'),
    at: timeSchema.describe('When.'),
  })
  .describe('The rollback in force; gone with the next change of the template.');

export const revisionSchema = z.object({
  revision: z.int().describe('1 for the first.'),
  bundle: z.string().describe('Name of the Bundle.'),
  template: bundleTemplateSchema.describe(
    'The template of that time: putting it back is a rollback.',
  ),
  appliedAt: timeSchema.describe('When it was first applied.'),
  appliedBy: z.string().optional().describe('Who changed the deployment to it, where known.'),
  healthyAt: timeSchema.optional().describe('When it was first healthy.'),
  rolledBackAt: timeSchema.optional().describe('When it was given up for an earlier one.'),
});

export const heldPruneSchema = z
  .object({
    digest: z
      .string()
      .describe(
        'Confirms exactly these deletions: the annotation core.rukpak.io/confirm-prune takes it.',
      ),
    reason: z.string().describe('Why they wait.'),
    count: z.int().describe('Number of objects that wait to be deleted.'),
    objects: z.array(objectRefSchema).describe('The first of them.'),
  })
  .describe('Deletions that wait to be confirmed.');

export const finishedObjectSchema = objectRefSchema.extend({
  outcome: z
    .enum(['Succeeded', 'Failed', 'Unknown'])
    .describe('How it ended; Unknown where it was deleted while core did not run.'),
  digest: z.string().describe('Digest of its spec: another spec runs.'),
});

export const finishedSchema = z
  .object({
    bundle: z
      .string()
      .describe('Name of the Bundle that they are of; another Bundle runs them again.'),
    objects: z.array(finishedObjectSchema).describe('The first 500 of them.'),
  })
  .describe('Jobs and Pods that have ended: core does not create them again after their deletion.');

export const hookRunSchema = z
  .object({
    event: z.string().describe('Such as pre-install.'),
    revision: z.string().describe('Digest of the objects and hooks that it is for.'),
    startedAt: timeSchema.describe(
      'When it was begun; tells its objects from those of earlier runs.',
    ),
    completed: z.int().describe('How many hooks of the event have succeeded, in their order.'),
    failures: z.int().optional().describe('How often the next one has failed.'),
    failure: z.string().optional().describe('Why it failed the last time.'),
    retryAt: timeSchema.optional().describe('When it is tried again.'),
  })
  .describe('The event whose hooks are being run, or were run last.');

export const hooksStatusSchema = z
  .object({
    applied: z
      .string()
      .optional()
      .describe('Digest of the objects and hooks that were last applied and run completely.'),
    onDelete: z.int().optional().describe('How many of these hooks run at the deletion.'),
    run: hookRunSchema.optional(),
  })
  .describe('Which hooks have run; only where the objects have any.');

/** The optional fields of a BundleDeployment's status. */
export const deploymentProgress = {
  plan: planStatusSchema.optional(),
  approval: approvalStatusSchema.optional(),
  applied: appliedStatusSchema.optional(),
  progress: progressStatusSchema.optional(),
  rollback: rollbackStatusSchema.optional(),
  history: z
    .array(revisionSchema)
    .optional()
    .describe('The last Bundles that were applied, the latest first.'),
  installNamespace: z
    .string()
    .optional()
    .describe('Namespace that core installs objects in that name none; it stays the same.'),
  heldPrune: heldPruneSchema.optional(),
  hooks: hooksStatusSchema.optional(),
  finished: finishedSchema.optional(),
};

export interface ObjectRef extends z.infer<typeof objectRefSchema> {}
export interface PlannedChange extends z.infer<typeof plannedChangeSchema> {}
export interface PlanStatus extends z.infer<typeof planStatusSchema> {}
export interface AppliedStatus extends z.infer<typeof appliedStatusSchema> {}
export interface ApprovalStatus extends z.infer<typeof approvalStatusSchema> {}
export interface ProgressStatus extends z.infer<typeof progressStatusSchema> {}
export interface RollbackStatus extends z.infer<typeof rollbackStatusSchema> {}
export interface Revision extends z.infer<typeof revisionSchema> {}
export interface HeldPrune extends z.infer<typeof heldPruneSchema> {}
export interface FinishedObject extends z.infer<typeof finishedObjectSchema> {}
export interface HookRun extends z.infer<typeof hookRunSchema> {}
export interface HooksStatus extends z.infer<typeof hooksStatusSchema> {}
