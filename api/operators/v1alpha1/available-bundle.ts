import { z } from 'zod';

/** Of kinds that install a bundle of a package: what they could install, and why they do not. */
export const availableBundleSchema = z
  .object({
    name: z.string().describe('Name of the bundle.'),
    version: z.string().describe('Version of the bundle.'),
    catalog: z.string().describe('Name of the catalog that has the bundle.'),
    reason: z
      .string()
      .optional()
      .describe(
        'Why the controller does not install the bundle: one CamelCase word, for programs. Empty if the bundle is installed or its installation is under way.',
      ),
    message: z
      .string()
      .optional()
      .describe(
        'Why the controller does not install the bundle, and what to change, for people. Empty if the bundle is installed or its installation is under way.',
      ),
  })
  .describe(
    'Newest bundle of the package in all catalogs that the object may use, whether or not version, channel and upgrade path allow it.',
  );

/** status.available of an Operator or ClusterExtension. */
export interface AvailableBundle extends z.infer<typeof availableBundleSchema> {}
