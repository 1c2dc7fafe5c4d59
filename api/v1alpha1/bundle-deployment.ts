import { z } from 'zod';
import type { KubernetesObject } from '../meta.ts';
import { classNameSchema } from './bundle.ts';
import { bundleTemplateSchema } from './bundle-template.ts';
import { conditionSchema } from './conditions.ts';
import { deploymentPolicies } from './deployment-policies.ts';
import { deploymentProgress } from './deployment-progress.ts';

export const bundleDeploymentSpecSchema = z
  .object({
    provisionerClassName: classNameSchema,
    template: bundleTemplateSchema.describe(
      'The Bundle to install. A change makes a new Bundle, which replaces the old one once it is applied.',
    ),
    config: z
      .looseObject({})
      .optional()
      .describe(
        'Free-form configuration, read by the provisioner class and by the class of the Bundle.',
      ),
    ...deploymentPolicies,
  })
  .describe('What is to be installed.');

export const bundleDeploymentStatusSchema = z
  .object({
    conditions: z
      .array(conditionSchema)
      .optional()
      .describe(
        'HasValidBundle, Installed and Healthy, in order of first appearance. Ready, Reconciling and Stalled sum them up by the rules of kstatus.',
      ),
    observedGeneration: z
      .int()
      .optional()
      .describe('The metadata.generation that the status was last set upon.'),
    activeBundle: z
      .string()
      .optional()
      .describe('Name of the Bundle that was last applied successfully.'),
    ...deploymentProgress,
  })
  .describe('What the provisioner found out about the BundleDeployment.');

/** A BundleDeployment's spec. */
export interface BundleDeploymentSpec extends z.infer<typeof bundleDeploymentSpecSchema> {}
/** A BundleDeployment's status. */
export interface BundleDeploymentStatus extends z.infer<typeof bundleDeploymentStatusSchema> {}

/** A bundle template and the class that applies what the template's Bundle holds. */
export interface BundleDeployment extends KubernetesObject {
  readonly apiVersion: 'core.rukpak.io/v1alpha1';
  readonly kind: 'BundleDeployment';
  readonly spec: BundleDeploymentSpec;
  readonly status?: BundleDeploymentStatus;
}
