import { z } from 'zod';
import type { ServerKeywords } from '../../crd/structural-schema.ts';
import type { KubernetesObject } from '../../meta.ts';
import { immutable, isDnsLabel, isSubdomain, requiredBlock, withRules } from './admission-rules.ts';
import { catalogFilterSchema } from './catalog-filter.ts';
import type { clusterExtensionStatusSchema } from './cluster-extension-status.ts';

const installSchema = z
  .object({
    preflight: z
      .object({
        crdUpgradeSafety: z
          .object({
            enforcement: z
              .enum(['None', 'Strict'])
              .describe(
                'With Strict, the controller refuses an upgrade whose CRDs endanger stored custom resources. With None, it does not check.',
              ),
          })
          .describe('Check of changed CRDs before an upgrade.'),
      })
      .meta(
        withRules({
          rule: 'has(self.crdUpgradeSafety)',
          message: 'at least one of [crdUpgradeSafety] are required when preflight is specified',
        }),
      )
      .optional()
      .describe('Checks before an installation or upgrade. Defaults to all checks.'),
  })
  .meta(
    withRules({
      rule: 'has(self.preflight)',
      message: 'at least one of [preflight] are required when install is specified',
    }),
  )
  .describe('Options of the installation.');

const configSchema = z
  .object({
    configType: z.enum(['Inline']).describe('Type of the configuration. The only type is Inline.'),
    inline: z
      .looseObject({})
      .meta({ minProperties: 1 } satisfies ServerKeywords)
      .optional()
      .describe(
        'Configuration of the bundle, for example watchNamespace and deploymentConfig. Required for type Inline.',
      ),
  })
  .meta(withRules(requiredBlock('inline', { type: 'configType', value: 'Inline' }, 'configType')))
  .describe('Configuration of the bundle. Defaults to that of the bundle.');

export const clusterExtensionSpecSchema = z
  .object({
    namespace: z
      .string()
      .max(63)
      .meta(withRules(immutable('namespace is immutable'), isDnsLabel))
      .describe('Namespace of the objects of the extension that name none. Immutable.'),
    serviceAccount: z
      .object({
        name: z
          .string()
          .min(1)
          .max(253)
          .meta(
            withRules(
              immutable('name is immutable once set but may be cleared'),
              isSubdomain('name'),
            ),
          )
          .optional()
          .describe('Name of the ServiceAccount. Immutable, but may be removed.'),
      })
      .meta({ minProperties: 1 } satisfies ServerKeywords)
      .optional()
      .describe(
        "ServiceAccount in spec.namespace that core impersonates for all API requests of this extension. Defaults to core's own.",
      ),
    source: z
      .object({
        sourceType: z.enum(['Catalog']).describe('Type of the source. The only type is Catalog.'),
        catalog: catalogFilterSchema.optional(),
      })
      .meta(
        withRules(requiredBlock('catalog', { type: 'sourceType', value: 'Catalog' }, 'sourceType')),
      )
      .describe('Source of the bundle.'),
    install: installSchema.optional(),
    config: configSchema.optional(),
    progressDeadlineMinutes: z
      .int()
      .min(10)
      .max(720)
      .meta({ format: 'int32' } satisfies ServerKeywords)
      .optional()
      .describe(
        'Maximum time in minutes (10 to 720) until an installed bundle is healthy. After it, condition Progressing is False with reason ProgressDeadlineExceeded. Unlimited by default.',
      ),
  })
  .describe('Package to install, its allowed versions, and how to install it.');

/** A ClusterExtension's spec. */
export interface ClusterExtensionSpec extends z.infer<typeof clusterExtensionSpecSchema> {}
/** A ClusterExtension's status. */
export interface ClusterExtensionStatus extends z.infer<typeof clusterExtensionStatusSchema> {}

/** A package to keep installed, as OLM 1.0 has it. The API server accepts one without a spec. */
export interface ClusterExtension extends KubernetesObject {
  readonly apiVersion: 'olm.operatorframework.io/v1';
  readonly kind: 'ClusterExtension';
  readonly spec?: ClusterExtensionSpec;
  readonly status?: ClusterExtensionStatus;
}
