import { z } from 'zod';
import { durationPattern } from '../duration.ts';

/**
 * What a BundleDeployment may ask for beyond RukPak's API. Every field is optional, and where it is
 * absent the deployment behaves as RukPak's did, unless core's flags have another default.
 */

const durationSchema = z.string().max(64).regex(durationPattern);
const objectName = z.string().min(1).max(253);
const labelPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const subdomainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export const upgradePolicySchema = z
  .enum(['Automatic', 'Manual'])
  .describe(
    'Manual: nothing is changed before the plan in status.plan is approved. Automatic where absent.',
  );

export const rollbackPolicySchema = z
  .object({
    deadline: durationSchema.describe(
      'How long a new Bundle may take until it is healthy, such as 5m.',
    ),
  })
  .describe(
    'Goes back to the last healthy Bundle where a new one is not healthy in time. Never where absent.',
  );

export const dependencySchema = z
  .object({ name: objectName.describe('Name of a BundleDeployment.') })
  .describe('A BundleDeployment that comes first.');

export const stagesPolicySchema = z
  .object({
    waitForReady: z
      .boolean()
      .optional()
      .describe('Each stage begins only when all objects of the one before are ready.'),
  })
  .describe('How the objects of the bundle follow one another.');

export const serviceAccountSchema = z
  .object({
    // Part of a user's name, whose parts are told apart by colons.
    namespace: z.string().max(63).regex(labelPattern).describe('Namespace of the ServiceAccount.'),
    name: z.string().max(253).regex(subdomainPattern).describe('Name of the ServiceAccount.'),
  })
  .describe('Whose permissions every read and write for this deployment has. Ours where absent.');

export const adoptionSchema = z
  .enum(['Never', 'Unowned', 'Always'])
  .describe(
    'Which objects that exist already may become part of the deployment: none, those without an owner, or all. Where absent, those that the annotation core.rukpak.io/adopt names.',
  );

export const ignoredFieldsSchema = z.object({
  group: z.string().max(253).optional().describe('API group of the objects; any where absent.'),
  kind: z.string().max(63).optional().describe('Kind of the objects; any where absent.'),
  namespace: z.string().max(63).optional().describe('Namespace of the objects; any where absent.'),
  name: z.string().max(253).optional().describe('Name of the object; any where absent.'),
  paths: z
    .array(z.string().min(2).max(1024).startsWith('/'))
    .min(1)
    .max(64)
    .describe('JSON pointers of fields that are left to others, such as /spec/replicas.'),
});

export const driftPolicySchema = z
  .object({
    mode: z
      .enum(['Correct', 'Warn', 'Off'])
      .optional()
      .describe(
        'What happens to objects that others change or delete: they are put back, only told of, or left alone. Correct where absent.',
      ),
    ignore: z
      .array(ignoredFieldsSchema)
      .max(64)
      .optional()
      .describe('Fields that others may change.'),
  })
  .describe('What happens to objects that others change.');

export const prunePolicySchema = z
  .object({
    maxPercent: z
      .int()
      .min(0)
      .max(100)
      .optional()
      .describe(
        'A larger share of the objects is deleted only when confirmed. Where absent, the default of the cluster.',
      ),
    confirmData: z
      .boolean()
      .optional()
      .describe(
        'Core deletes data only when confirmed: PersistentVolumes and their claims, StatefulSets, Namespaces, CRDs with custom resources, and Secrets that others wrote to. Defaults to the default of the cluster.',
      ),
    when: z
      .enum(['Applied', 'Healthy'])
      .optional()
      .describe(
        'When core deletes what the bundle no longer has: once everything else is applied, or once it is healthy. Data waits for health in any case. Defaults to Healthy with spec.rollback, else to Applied.',
      ),
  })
  .describe(
    'When core deletes objects that are no longer in the bundle, and what needs a confirmation.',
  );

export const deletionPolicySchema = z
  .enum(['Delete', 'Orphan', 'KeepCRDs'])
  .describe(
    'What happens to the objects when the deployment is deleted: all go, all stay, or CRDs and their custom resources stay. Where absent, the default of the cluster, Delete unless core has another.',
  );

export const healthRuleSchema = z.object({
  group: z
    .string()
    .max(253)
    .optional()
    .describe('API group of the kind; empty for the core group.'),
  kind: z.string().min(1).max(63).describe('The kind that the rule is for.'),
  healthy: z
    .string()
    .min(1)
    .max(4096)
    .describe('CEL expression over `self`: true where the object is healthy.'),
  failed: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('CEL expression over `self`: true where the object will not become healthy.'),
  message: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('CEL expression over `self` that says what is wrong, as a text.'),
});

export const healthPolicySchema = z
  .object({
    rules: z
      .array(healthRuleSchema)
      .max(32)
      .optional()
      .describe('Judge kinds in place of the built-in rules.'),
    progressDeadline: durationSchema
      .optional()
      .describe('How long a Bundle may take until it is healthy before that is told as a failure.'),
  })
  .describe('When the deployment counts as healthy.');

/** The optional fields of a BundleDeployment's spec. */
export const deploymentPolicies = {
  paused: z
    .boolean()
    .optional()
    .describe('While true nothing in the cluster is changed for this deployment.'),
  upgradePolicy: upgradePolicySchema.optional(),
  rollback: rollbackPolicySchema.optional(),
  revisionHistoryLimit: z
    .int()
    .min(0)
    .max(50)
    .optional()
    .describe('How many earlier Bundles are kept to go back to. None where absent.'),
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
      'Namespace of namespaced objects that name none. Defaults to the namespace that core runs in. Fixed once the deployment is installed.',
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
