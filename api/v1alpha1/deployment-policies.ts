import { z } from 'zod';
import { durationPattern } from '../duration.ts';

/**
 * Fields of a BundleDeployment's spec that RukPak's API does not have. All are optional. Without them a
 * deployment behaves as in RukPak, unless a flag of core sets another default.
 */

const durationSchema = z.string().max(64).regex(durationPattern);
const objectName = z.string().min(1).max(253);
const labelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export const upgradePolicySchema = z
  .enum(['Automatic', 'Manual'])
  .describe(
    'With Manual, core applies a new version only after a user approved the plan in status.plan, and meanwhile repairs what is installed. Defaults to Automatic.',
  );

export const rollbackPolicySchema = z
  .object({
    deadline: durationSchema.describe(
      'Maximum time from the first apply of a new Bundle until it is healthy, for example 5m.',
    ),
  })
  .describe(
    'Automatic rollback to the last healthy Bundle when a new one is not healthy within the deadline. Without it core never rolls back.',
  );

export const dependencySchema = z
  .object({ name: objectName.describe('Name of a BundleDeployment.') })
  .describe('BundleDeployment that must be installed and healthy first.');

export const stagesPolicySchema = z
  .object({
    waitForReady: z
      .boolean()
      .optional()
      .describe(
        'Core applies a stage only when all objects of the previous stage are ready. Defaults to false.',
      ),
  })
  .describe('Order in which core applies the objects of the bundle.');

export const serviceAccountSchema = z
  .object({
    // Part of a user's name, whose parts are told apart by colons.
    namespace: z.string().max(63).regex(labelPattern).describe('Namespace of the ServiceAccount.'),
    name: z.string().max(253).regex(subdomainPattern).describe('Name of the ServiceAccount.'),
  })
  .describe(
    "ServiceAccount that core impersonates for all API requests of this deployment. Defaults to core's own.",
  );

export const adoptionSchema = z
  .enum(['Never', 'Unowned', 'Always'])
  .describe(
    "Existing objects that core may adopt: Never, Unowned (those without an owner) or Always. Defaults to objects that the annotation core.rukpak.io/adopt names, that a BundleDeployment of this name orphaned, or that belong to RukPak's Helm release of this name.",
  );

export const ignoredFieldsSchema = z.object({
  group: z.string().max(253).optional().describe('API group of the objects. Defaults to any.'),
  kind: z.string().max(63).optional().describe('Kind of the objects. Defaults to any.'),
  namespace: z.string().max(63).optional().describe('Namespace of the objects. Defaults to any.'),
  name: z.string().max(253).optional().describe('Name of the object. Defaults to any.'),
  paths: z
    .array(z.string().min(2).max(1024).startsWith('/'))
    .min(1)
    .max(64)
    .describe('JSON pointers of the fields to ignore, for example /spec/replicas.'),
});

export const driftPolicySchema = z
  .object({
    mode: z
      .enum(['Correct', 'Warn', 'Off'])
      .optional()
      .describe(
        'Reaction when another client changes or deletes an object: Correct restores it, Warn reports it in condition Drifted, Off ignores it. Defaults to Correct.',
      ),
    ignore: z
      .array(ignoredFieldsSchema)
      .max(64)
      .optional()
      .describe('Fields that other clients may change.'),
  })
  .describe('Reaction when another client changes objects of this deployment.');

export const prunePolicySchema = z
  .object({
    maxPercent: z
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe(
        "Maximum share of the objects, in percent (0 to 100), that core deletes in an upgrade without confirmation. Defaults to core's flag --default-prune-max-percent, which is unlimited unless set.",
      ),
    confirmData: z
      .boolean()
      .optional()
      .describe(
        "Core deletes data only when confirmed: PersistentVolumes and their claims, StatefulSets, Namespaces, CRDs with custom resources, and Secrets that other clients wrote to. Defaults to core's flag --default-confirm-data.",
      ),
    when: z
      .enum(['Applied', 'Healthy'])
      .optional()
      .describe(
        'Time at which core deletes objects that the new bundle does not contain: Applied (after it applied all others) or Healthy (after all others are healthy). Data always waits for Healthy. Defaults to Healthy with spec.rollback, otherwise to Applied.',
      ),
  })
  .describe(
    'When core deletes objects that are no longer in the bundle, and which deletions need confirmation.',
  );

export const deletionPolicySchema = z
  .enum(['Delete', 'Orphan', 'KeepCRDs'])
  .describe(
    "What core does with the objects when the BundleDeployment is deleted: Delete deletes all, Orphan keeps all, KeepCRDs keeps CRDs and their custom resources. Defaults to core's flag --default-deletion-policy, which defaults to Delete.",
  );

export const healthRuleSchema = z.object({
  group: z
    .string()
    .max(253)
    .optional()
    .describe('API group of the kind. Defaults to the core group.'),
  kind: z.string().min(1).max(63).describe('Kind that the rule applies to.'),
  healthy: z
    .string()
    .min(1)
    .max(4096)
    .describe('CEL expression over `self`: true when the object is healthy.'),
  failed: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('CEL expression over `self`: true when the object cannot become healthy.'),
  message: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe(
      'CEL expression over `self` that returns a string, number or boolean: what is wrong with the object.',
    ),
});

export const healthPolicySchema = z
  .object({
    rules: z
      .array(healthRuleSchema)
      .max(32)
      .optional()
      .describe('Health rules by kind. They replace the built-in rules.'),
    progressDeadline: durationSchema
      .optional()
      .describe(
        'Maximum time until a Bundle is healthy. After it, condition Progressing is False with reason ProgressDeadlineExceeded. Unlimited by default.',
      ),
  })
  .describe('Rules for condition Healthy.');

/** The optional fields of a BundleDeployment's spec. */
export const deploymentPolicies = {
  paused: z
    .boolean()
    .optional()
    .describe(
      'While true, core changes nothing in the cluster for this deployment, except that its deletion deletes its objects. Defaults to false.',
    ),
  upgradePolicy: upgradePolicySchema.optional(),
  rollback: rollbackPolicySchema.optional(),
  revisionHistoryLimit: z
    .int()
    .min(0)
    .max(50)
    .optional()
    .describe(
      'Number of earlier Bundles to keep for rollback (0 to 50). Defaults to 0, or to 2 with spec.rollback.',
    ),
  dependsOn: z
    .array(dependencySchema)
    .max(64)
    .optional()
    .describe('BundleDeployments that must be installed and healthy first.'),
  stages: stagesPolicySchema.optional(),
  serviceAccount: serviceAccountSchema.optional(),
  installNamespace: z
    .string()
    .max(63)
    .regex(labelPattern)
    .optional()
    .describe(
      'Namespace of namespaced objects without a namespace. Defaults to the namespace that core runs in. Core ignores a change after the first installation.',
    ),
  adoption: adoptionSchema.optional(),
  drift: driftPolicySchema.optional(),
  prune: prunePolicySchema.optional(),
  deletionPolicy: deletionPolicySchema.optional(),
  health: healthPolicySchema.optional(),
};

export interface IgnoredFields extends z.infer<typeof ignoredFieldsSchema> {}
export interface DriftPolicy extends z.infer<typeof driftPolicySchema> {}
export type DeletionPolicy = z.infer<typeof deletionPolicySchema>;
export interface PrunePolicy extends z.infer<typeof prunePolicySchema> {}
export interface HealthRule extends z.infer<typeof healthRuleSchema> {}
export interface ServiceAccountRef extends z.infer<typeof serviceAccountSchema> {}
