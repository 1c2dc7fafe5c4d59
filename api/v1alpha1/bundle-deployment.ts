import { z } from 'zod';
import type { KubernetesObject } from '../meta.ts';
import { bundleSpecSchema, classNameSchema } from './bundle.ts';
import { conditionSchema } from './conditions.ts';
import { deploymentPolicies } from './deployment-policies.ts';
import { deploymentProgress } from './deployment-progress.ts';

export const templateMetadataSchema = z.object({
  name: z.string().optional().describe('Not used: the name of the Bundle is generated.'),
  namespace: z.string().optional().describe('Not used: Bundles have no namespace.'),
  labels: z.record(z.string(), z.string()).optional().describe('Labels of the Bundle.'),
  annotations: z.record(z.string(), z.string()).optional().describe('Annotations of the Bundle.'),
  finalizers: z.array(z.string()).optional().describe('Not used.'),
});

export const bundleTemplateSchema = z.object({
  metadata: templateMetadataSchema
    .optional()
    .describe('Metadata of the Bundle: labels and annotations are copied.'),
  spec: bundleSpecSchema.describe('The spec of the Bundle.'),
});

export const bundleDeploymentSpecSchema = z
  .object({
    provisionerClassName: classNameSchema,
    template: bundleTemplateSchema.describe(
      'The Bundle to install. A change makes a new Bundle, which replaces the old one once it is applied.',
    ),
    config: z
      .looseObject({})
      .optional()
      .describe('Free-form configuration, read by the provisioner class.'),
    ...deploymentPolicies,
  })
  .describe('What is to be installed.');

export const bundleDeploymentStatusSchema = z
  .object({
    conditions: z
      .array(conditionSchema)
      .optional()
      .describe('HasValidBundle, Installed and Healthy, in order of first appearance.'),
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

export interface BundleTemplate extends z.infer<typeof bundleTemplateSchema> {}
export interface BundleDeploymentSpec extends z.infer<typeof bundleDeploymentSpecSchema> {}
export interface BundleDeploymentStatus extends z.infer<typeof bundleDeploymentStatusSchema> {}

/** A bundle template and the class that applies what the template's Bundle holds. */
export interface BundleDeployment extends KubernetesObject {
  readonly apiVersion: 'core.rukpak.io/v1alpha1';
  readonly kind: 'BundleDeployment';
  readonly spec: BundleDeploymentSpec;
  readonly status?: BundleDeploymentStatus;
}
