import { z } from 'zod';
import { record } from '../record.ts';
import { bundleSpecSchema } from './bundle.ts';

export const templateMetadataSchema = z.object({
  name: z.string().optional().describe('Ignored: core generates the name of the Bundle.'),
  namespace: z.string().optional().describe('Ignored: a Bundle is cluster-scoped.'),
  labels: record(z.string()).optional().describe('Labels that core copies to the Bundle.'),
  annotations: record(z.string())
    .optional()
    .describe('Annotations that core copies to the Bundle.'),
  finalizers: z.array(z.string()).optional().describe('Ignored.'),
});

export const bundleTemplateSchema = z.object({
  metadata: templateMetadataSchema
    .optional()
    .describe(
      'Metadata of the Bundle. Core copies labels and annotations and ignores the other fields.',
    ),
  spec: bundleSpecSchema.describe('Spec of the Bundle.'),
});

/** A BundleDeployment's spec.template: the Bundle to make. */
export interface BundleTemplate extends z.infer<typeof bundleTemplateSchema> {}
