import { z } from 'zod';

export const timeSchema = z.string().meta({ format: 'date-time' });

export const objectRefSchema = z.object({
  group: z.string().describe('API group of the object. Empty for the core group.'),
  kind: z.string().describe('Kind of the object.'),
  namespace: z
    .string()
    .optional()
    .describe('Namespace of the object. Absent for cluster-scoped objects.'),
  name: z.string().describe('Name of the object.'),
});

export const plannedChangeSchema = objectRefSchema.extend({
  action: z
    .enum(['Create', 'Change', 'Delete', 'Orphan'])
    .describe('What core would do with the object: Create, Change, Delete or Orphan.'),
  fields: z
    .array(z.string())
    .optional()
    .describe('Paths of the first fields that core would change.'),
});

export const planStatusSchema = z
  .object({
    bundle: z.string().describe('Name of the Bundle that core would apply.'),
    digest: z
      .string()
      .describe(
        'Digest of the plan. The annotation core.rukpak.io/approve with this value approves exactly this plan.',
      ),
    createdAt: timeSchema.describe('Time at which core made the plan.'),
    create: z.int().describe('Number of objects that core would create.'),
    change: z.int().describe('Number of objects that core would change.'),
    delete: z.int().describe('Number of objects that core would delete.'),
    orphan: z
      .int()
      .optional()
      .describe('Number of objects that core would orphan instead of deleting. Absent for none.'),
    unchanged: z.int().describe('Number of objects that core would leave unchanged.'),
    changes: z
      .array(plannedChangeSchema)
      .describe('First changes of the plan. Command rukpakctl plan shows all of them.'),
    hooks: z
      .array(z.string())
      .optional()
      .describe('First hooks that core would run, in order, each with its event.'),
    truncated: z
      .boolean()
      .optional()
      .describe('True when changes contains only a part of the plan.'),
    problems: z
      .array(z.string())
      .optional()
      .describe('First reasons why the plan would fail. A plan with problems cannot be approved.'),
  })
  .describe('Plan that waits for approval: what core would change.');

export const approvalStatusSchema = z
  .object({
    bundle: z.string().describe('Name of the Bundle.'),
    uid: z
      .string()
      .describe(
        'UID of the Bundle. A new Bundle of the same name needs a new approval, unless core had begun to apply the old one and the new one has the same objects.',
      ),
    rendering: z
      .string()
      .describe('Digest of the class and the config from which core renders the objects.'),
    objects: z.string().optional().describe('Digest of all rendered objects and their namespace.'),
    digest: z
      .string()
      .optional()
      .describe(
        'Digest of the approved plan. Absent for content installed before upgradePolicy was Manual.',
      ),
    approvedAt: timeSchema.optional().describe('Time at which core saw the approval.'),
  })
  .describe('Content that core applies and repairs without another approval.');

export interface ObjectRef extends z.infer<typeof objectRefSchema> {}
export interface PlannedChange extends z.infer<typeof plannedChangeSchema> {}
export interface PlanStatus extends z.infer<typeof planStatusSchema> {}
export interface ApprovalStatus extends z.infer<typeof approvalStatusSchema> {}
