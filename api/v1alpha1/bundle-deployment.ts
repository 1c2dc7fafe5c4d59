import { z } from 'zod';
import type { KubernetesObject } from '../meta.ts';
import { bundleSpecSchema, classNameSchema } from './bundle.ts';
import { conditionSchema } from './conditions.ts';

export const templateMetadataSchema = z.object({
  name: z.string().optional(),
  namespace: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
  finalizers: z.array(z.string()).optional(),
});

export const bundleTemplateSchema = z.object({
  metadata: templateMetadataSchema.optional(),
  spec: bundleSpecSchema,
});

export const bundleDeploymentSpecSchema = z.object({
  provisionerClassName: classNameSchema,
  template: bundleTemplateSchema,
  config: z.looseObject({}).optional(),
});

export const bundleDeploymentStatusSchema = z.object({
  conditions: z.array(conditionSchema).optional(),
  observedGeneration: z.int().optional(),
  activeBundle: z.string().optional(),
});

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
