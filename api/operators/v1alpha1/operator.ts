import { z } from 'zod';
import type { ServerKeywords } from '../../crd/structural-schema.ts';
import type { KubernetesObject } from '../../meta.ts';
import { conditionsByTypeSchema } from '../../v1alpha1/conditions.ts';
import { availableBundleSchema } from './available-bundle.ts';

/**
 * The pattern of version ranges of both generations of the API, to the letter. Only the API server,
 * whose expressions take linear time, evaluates it.
 */
export const versionRangePattern = String.raw`^(\s*(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*(v?(0|[1-9]\d*|[x|X|\*])(\.(0|[1-9]\d*|x|X|\*]))?(\.(0|[1-9]\d*|x|X|\*))?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?)\s*)((?:\s+|,\s*|\s*\|\|\s*)(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*(v?(0|[1-9]\d*|x|X|\*])(\.(0|[1-9]\d*|x|X|\*))?(\.(0|[1-9]\d*|x|X|\*]))?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?)\s*)*$`;

export const operatorSpecSchema = z
  .object({
    packageName: z
      .string()
      .max(48)
      .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      .describe('Name of the package to install.'),
    version: z
      .string()
      .max(64)
      .meta({ pattern: versionRangePattern } satisfies ServerKeywords)
      .optional()
      .describe(
        'Allowed versions: one version, for example 1.11.0, or a range, for example ">=1.11, <1.13", 1.11.x, ^1.11 or "1.11.0 || 2.x". A range without a prerelease excludes prereleases. Defaults to any version, prereleases included.',
      ),
    channel: z
      .string()
      .max(48)
      .meta({ pattern: String.raw`^[a-z0-9]+([\.-][a-z0-9]+)*$` } satisfies ServerKeywords)
      .optional()
      .describe('Channel of the package. Defaults to all channels.'),
    upgradeConstraintPolicy: z
      .enum(['Enforce', 'Ignore'])
      .meta({ default: 'Enforce' } satisfies ServerKeywords)
      .optional()
      .describe(
        'With Enforce, the controller upgrades only along the upgrade path of the package. With Ignore, it installs the newest allowed version, even if that is a downgrade or a step that the package does not support. Defaults to Enforce.',
      ),
  })
  .describe('Package to install, and its allowed versions.');

export const installedBundleSchema = z
  .object({
    name: z.string().describe('Name of the bundle.'),
    version: z.string().describe('Version of the bundle.'),
  })
  .describe('Installed bundle. Stays set while its catalog is not available.');

export const operatorStatusSchema = z
  .object({
    installedBundleResource: z
      .string()
      .optional()
      .describe('Image of the installed bundle. Empty if no bundle is installed.'),
    resolvedBundleResource: z
      .string()
      .optional()
      .describe(
        'Image of the bundle that the controller selected. Empty if no bundle meets the spec.',
      ),
    installed: installedBundleSchema.optional(),
    available: availableBundleSchema.optional(),
    conditions: conditionsByTypeSchema
      .optional()
      .describe(
        'Condition Resolved says whether a bundle meets the spec, Installed whether it is installed. Ready, Reconciling and Stalled summarize them by the rules of kstatus.',
      ),
  })
  .describe('Observed state of the Operator.');

/** An Operator's spec. */
export interface OperatorSpec extends z.infer<typeof operatorSpecSchema> {}
/** An Operator's status. */
export interface OperatorStatus extends z.infer<typeof operatorStatusSchema> {}

/** A package to keep installed, as OpenShift 4.15 has it. The API server accepts one without a spec. */
export interface Operator extends KubernetesObject {
  readonly apiVersion: 'operators.operatorframework.io/v1alpha1';
  readonly kind: 'Operator';
  readonly spec?: OperatorSpec;
  readonly status?: OperatorStatus;
}
