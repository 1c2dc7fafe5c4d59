import { z } from 'zod';
import type { KubernetesObject } from '../meta.ts';
import { bundleTemplateSchema, classNameSchema } from './bundle.ts';
import { conditionSchema } from './conditions.ts';
import { deploymentPolicies } from './deployment-policies.ts';
import { deploymentProgress } from './deployment-progress.ts';

export const bundleDeploymentSpecSchema = z
  .object({
    provisionerClassName: classNameSchema.describe(
      'Name of the provisioner class that renders and applies the objects: core-rukpak-io-plain (also for content of class core-rukpak-io-registry), core-rukpak-io-helm, or a class of a third party. Core does not reconcile an object whose class no running provisioner serves.',
    ),
    template: bundleTemplateSchema.describe(
      'Template of the Bundle to install. After a change core creates a new Bundle, applies it, and replaces the old one.',
    ),
    config: z
      .looseObject({})
      .optional()
      .describe(
        'Free-form configuration. The provisioner class of the deployment and the class of its Bundle read it.',
      ),
    ...deploymentPolicies,
  })
  .describe('Desired state of the BundleDeployment.');

export const bundleDeploymentStatusSchema = z
  .object({
    conditions: z
      .array(conditionSchema)
      .optional()
      .describe(
        'Conditions HasValidBundle, Installed and Healthy; Progressing while something blocks the deployment, and Drifted while objects differ from the bundle (spec.drift.mode Warn). Ready, Reconciling and Stalled summarize them by the rules of kstatus.',
      ),
    observedGeneration: z
      .int()
      .optional()
      .describe('The metadata.generation that core reconciled last.'),
    lastHandledReconcileAt: z
      .string()
      .optional()
      .describe(
        'The value of annotation core.rukpak.io/reconcile-requested-at that core reconciled last.',
      ),
    activeBundle: z
      .string()
      .optional()
      .describe('Name of the Bundle that core last applied completely.'),
    ...deploymentProgress,
  })
  .describe('Observed state of the BundleDeployment.');

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
