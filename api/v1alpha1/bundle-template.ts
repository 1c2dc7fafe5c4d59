import { z } from 'zod';
import { record } from '../record.ts';
import { bundleSpecSchema } from './bundle.ts';

export const templateMetadataSchema = z.object({
  name: z.string().optional().describe('Not used: the name of the Bundle is generated.'),
  namespace: z.string().optional().describe('Not used: Bundles have no namespace.'),
  labels: record(z.string()).optional().describe('Labels of the Bundle.'),
  annotations: record(z.string()).optional().describe('Annotations of the Bundle.'),
  finalizers: z.array(z.string()).optional().describe('Not used.'),
});

export const bundleTemplateSchema = z.object({
  metadata: templateMetadataSchema
    .optional()
    .describe('Metadata of the Bundle: labels and annotations are copied.'),
  spec: bundleSpecSchema.describe('The spec of the Bundle.'),
});

/** A BundleDeployment's spec.template: the Bundle to make. */
export interface BundleTemplate extends z.infer<typeof bundleTemplateSchema> {}
