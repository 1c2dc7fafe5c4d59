import { z } from 'zod';
import type { KubernetesObject } from '../meta.ts';
import { conditionSchema } from './conditions.ts';

/** Class names: no dots, no slashes (spec section 1). */
export const classNameSchema = z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

const authSchema = z.object({
  secret: z.object({ name: z.string().optional() }).optional(),
  insecureSkipVerify: z.boolean().optional(),
});

export const imageSourceSchema = z.object({
  ref: z.string(),
  pullSecret: z.string().optional(),
});

export const gitRefSchema = z.object({
  branch: z.string().optional(),
  commit: z.string().optional(),
  tag: z.string().optional(),
});

export const gitSourceSchema = z.object({
  repository: z.string(),
  ref: gitRefSchema,
  directory: z.string().optional(),
  auth: authSchema.optional(),
});

export const configMapSourceSchema = z.object({
  configMap: z.object({ name: z.string().optional() }),
  path: z.string().optional(),
});

export const httpSourceSchema = z.object({
  url: z.string(),
  auth: authSchema.optional(),
});

/** Which block belongs to a type is checked by the webhook, that there is one by the CRD's oneOf. */
export const bundleSourceSchema = z.object({
  type: z.string(),
  image: imageSourceSchema.optional(),
  git: gitSourceSchema.optional(),
  configMaps: z.array(configMapSourceSchema).optional(),
  upload: z.object({}).optional(),
  http: httpSourceSchema.optional(),
});

export const bundleSpecSchema = z.object({
  provisionerClassName: classNameSchema,
  source: bundleSourceSchema,
});

export const bundlePhases = ['Pending', 'Unpacking', 'Failing', 'Unpacked'] as const;

export const bundleStatusSchema = z.object({
  phase: z.string().optional(),
  resolvedSource: bundleSourceSchema.optional(),
  observedGeneration: z.int().optional(),
  conditions: z.array(conditionSchema).optional(),
  contentURL: z.string().optional(),
});

export type BundlePhase = (typeof bundlePhases)[number];
export interface ImageSource extends z.infer<typeof imageSourceSchema> {}
export interface GitSource extends z.infer<typeof gitSourceSchema> {}
export interface ConfigMapSource extends z.infer<typeof configMapSourceSchema> {}
export interface HTTPSource extends z.infer<typeof httpSourceSchema> {}
export interface BundleSource extends z.infer<typeof bundleSourceSchema> {}
export interface BundleSpec extends z.infer<typeof bundleSpecSchema> {}
export interface BundleStatus extends z.infer<typeof bundleStatusSchema> {}

/** Immutable content of one source, checked and converted by its provisioner class. */
export interface Bundle extends KubernetesObject {
  readonly apiVersion: 'core.rukpak.io/v1alpha1';
  readonly kind: 'Bundle';
  readonly spec: BundleSpec;
  readonly status?: BundleStatus;
}
