import { z } from 'zod';
import type { ServerKeywords } from '../../crd/structural-schema.ts';
import { versionRangePattern } from '../../operators/v1alpha1/operator.ts';
import { record } from '../../record.ts';
import { immutable, isChannelName, isSubdomain, withRules } from './admission-rules.ts';

const atomicList = { 'x-kubernetes-list-type': 'atomic' } satisfies ServerKeywords;

/** metav1.LabelSelector. */
const selectorSchema = z
  .object({
    matchLabels: record(z.string())
      .optional()
      .describe('Labels that a ClusterCatalog must have, with their values.'),
    matchExpressions: z
      .array(
        z.object({
          key: z.string().describe('Key of the label.'),
          operator: z
            .string()
            .describe('Relation of the label to values: In, NotIn, Exists or DoesNotExist.'),
          values: z
            .array(z.string())
            .meta(atomicList)
            .optional()
            .describe('Values for In and NotIn. Empty for Exists and DoesNotExist.'),
        }),
      )
      .meta(atomicList)
      .optional()
      .describe('Conditions on the labels of a ClusterCatalog. It must meet all of them.'),
  })
  .meta({ 'x-kubernetes-map-type': 'atomic' } satisfies ServerKeywords)
  .describe(
    'ClusterCatalogs to install from, by label. The label olm.operatorframework.io/metadata.name is the name of the catalog. Defaults to all.',
  );

/** spec.source.catalog of a ClusterExtension. */
export const catalogFilterSchema = z
  .object({
    packageName: z
      .string()
      .max(253)
      .meta(withRules(immutable('packageName is immutable'), isSubdomain('packageName')))
      .describe('Name of the package to install. Immutable.'),
    version: z
      .string()
      .max(64)
      .meta(
        withRules({
          rule: `self.matches("${versionRangePattern.replaceAll('\\', '\\\\')}")`,
          message: 'invalid version expression',
        }),
      )
      .optional()
      .describe(
        'Allowed versions: one version, for example 1.11.0, or a range, for example ">=1.11, <1.13", 1.11.x, ^1.11 or "1.11.0 || 2.x". A range without a prerelease excludes prereleases. Defaults to any version, prereleases included.',
      ),
    channels: z
      .array(z.string().max(253).meta(withRules(isChannelName)))
      .max(256)
      .optional()
      .describe('Channels of the package, at most 256. Defaults to all channels.'),
    selector: selectorSchema.optional(),
    upgradeConstraintPolicy: z
      .enum(['CatalogProvided', 'SelfCertified'])
      .meta({ default: 'CatalogProvided' } satisfies ServerKeywords)
      .optional()
      .describe(
        'With CatalogProvided, the controller upgrades only along the upgrade path of the package. With SelfCertified, it installs the newest allowed version, even if that is a downgrade or a step that the package does not support. Defaults to CatalogProvided.',
      ),
  })
  .describe('Package of the ClusterCatalogs. Required for sourceType Catalog.');

/** spec.source.catalog of a ClusterExtension. */
export interface CatalogFilter extends z.infer<typeof catalogFilterSchema> {}
