import { z } from 'zod';
import { availableBundleSchema } from '../../operators/v1alpha1/available-bundle.ts';
import { conditionsByTypeSchema } from '../../v1alpha1/conditions.ts';
import { isSubdomain, withRules } from './admission-rules.ts';

const semver = String.raw`self.matches("^([0-9]+)(\\.[0-9]+)?(\\.[0-9]+)?(-([-0-9A-Za-z]+(\\.[-0-9A-Za-z]+)*))?(\\+([-0-9A-Za-z]+(-\\.[-0-9A-Za-z]+)*))?")`;
const release = String.raw`self.matches("^$|^(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)(\\.(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*))*$")`;

const bundleSchema = z
  .object({
    name: z
      .string()
      .meta(withRules(isSubdomain('packageName')))
      .describe('Name of the bundle.'),
    version: z
      .string()
      .meta(withRules({ rule: semver, message: 'version must be well-formed semver' }))
      .describe('Version of the bundle.'),
    release: z
      .string()
      .max(20)
      .meta(
        withRules({
          rule: release,
          message:
            'release must be empty or consist of dot-separated identifiers (numeric without leading zeros, or alphanumeric)',
        }),
      )
      .optional()
      .describe('Release of the version, if the bundle has one: 2 for version 1.0.0+2.'),
  })
  .describe('Installed bundle.');

export const clusterExtensionStatusSchema = z
  .object({
    conditions: conditionsByTypeSchema
      .optional()
      .describe(
        'Condition Installed says whether a bundle is installed, Progressing whether it is the one that the spec asks for, and why not. Deprecated, PackageDeprecated, ChannelDeprecated and BundleDeprecated show what the catalog deprecates. Ready, Reconciling and Stalled summarize Installed and Progressing by the rules of kstatus.',
      ),
    install: z
      .object({ bundle: bundleSchema })
      .optional()
      .describe('What is installed. Stays set while its catalog is not available.'),
    available: availableBundleSchema.optional(),
  })
  .describe('Observed state of the ClusterExtension.');
