import { z } from 'zod';
import type { ServerKeywords } from '../../crd/structural-schema.ts';
import type { KubernetesObject } from '../../meta.ts';
import { conditionsByTypeSchema } from '../../v1alpha1/conditions.ts';
import {
  pinnedReferenceRules,
  referenceRules,
  requiredBlock,
  withRules,
} from './admission-rules.ts';

const imageType = { type: 'type', value: 'Image' };
const imageRule = requiredBlock('image', imageType, 'source type');
const dateTime = { format: 'date-time' } satisfies ServerKeywords;

export const clusterCatalogImageSchema = z
  .object({
    ref: z
      .string()
      .max(1000)
      .meta(withRules(...referenceRules))
      .describe(
        'Reference of the catalog image, with registry, repository, and tag or digest, for example registry.example.com/catalogs/shop:v1.',
      ),
    pollIntervalMinutes: z
      .int()
      .min(1)
      .optional()
      .describe(
        'Interval in minutes at which the controller looks for a new image under the tag. Only for references by tag. Defaults to no polling.',
      ),
    pullSecret: z
      .string()
      .optional()
      .describe(
        'Name of a Secret of type kubernetes.io/dockerconfigjson or kubernetes.io/dockercfg in the system namespace, with the credentials for the registry. Defaults to anonymous access.',
      ),
  })
  .meta(
    withRules({
      rule: `self.ref.find('(@.*:)') != "" ? !has(self.pollIntervalMinutes) : true`,
      message: 'cannot specify pollIntervalMinutes while using digest-based image',
    }),
  )
  .describe('Catalog image in an OCI registry. Required for type Image.');

export const clusterCatalogSpecSchema = z
  .object({
    source: z
      .object({
        type: z.enum(['Image']).describe('Type of the source. The only type is Image.'),
        image: clusterCatalogImageSchema.optional(),
      })
      .meta(withRules(imageRule))
      .describe('Source of the content.'),
    priority: z
      .int()
      .min(-2147483648)
      .max(2147483647)
      .meta({ default: 0, format: 'int32' } satisfies ServerKeywords)
      .optional()
      .describe(
        'Priority of the catalog (-2147483648 to 2147483647, default 0). If several catalogs have bundles that meet a request, the one with the highest priority serves it.',
      ),
    availabilityMode: z
      .enum(['Unavailable', 'Available'])
      .meta({ default: 'Available' } satisfies ServerKeywords)
      .optional()
      .describe(
        'With Unavailable, the controller does not serve the content, and no extension installs from the catalog. Defaults to Available.',
      ),
  })
  .describe('Desired content of the ClusterCatalog, and how clients use it.');

export const clusterCatalogStatusSchema = z
  .object({
    conditions: conditionsByTypeSchema
      .optional()
      .describe(
        'Condition Serving says whether the content is served, Progressing whether the controller has fetched the newest content, and why not. Ready, Reconciling and Stalled summarize them by the rules of kstatus.',
      ),
    resolvedSource: z
      .object({
        type: z.enum(['Image']).describe('Type of the source.'),
        image: z
          .object({
            ref: z
              .string()
              .max(1000)
              .meta(withRules(...pinnedReferenceRules))
              .describe('Reference of the image by digest.'),
          })
          .describe('Catalog image that the controller fetched.'),
      })
      .meta(withRules(imageRule))
      .optional()
      .describe(
        'Source of the content that is served, pinned to a digest. It stays while the controller has to fetch this content again.',
      ),
    urls: z
      .object({
        base: z
          .string()
          .max(525)
          .meta(
            withRules(
              { rule: 'isURL(self)', message: 'must be a valid URL' },
              {
                rule: 'isURL(self) ? (url(self).getScheme() == "http" || url(self).getScheme() == "https") : true',
                message: 'scheme must be either http or https',
              },
            ),
          )
          .describe(
            'URL of the catalog. Clients append /api/v1/all for the whole content as JSON lines, or /api/v1/metas for blobs by schema, package and name.',
          ),
      })
      .optional()
      .describe('URLs of the content inside the cluster.'),
    lastUnpacked: z
      .string()
      .meta(dateTime)
      .optional()
      .describe('Time at which the controller last fetched and stored new content.'),
    lastPollAttempt: z
      .string()
      .meta(dateTime)
      .optional()
      .describe('Time of the last successful check of the image.'),
    packages: z.int().optional().describe('Number of packages in the content.'),
  })
  .describe('Observed state of the ClusterCatalog.');

/** spec.source.image. */
export interface ClusterCatalogImage extends z.infer<typeof clusterCatalogImageSchema> {}
/** A ClusterCatalog's spec. */
export interface ClusterCatalogSpec extends z.infer<typeof clusterCatalogSpecSchema> {}
/** A ClusterCatalog's status. */
export interface ClusterCatalogStatus extends z.infer<typeof clusterCatalogStatusSchema> {}

/** A file-based catalog, as OLM 1.0 has it since its first stable version. */
export interface ClusterCatalog extends KubernetesObject {
  readonly apiVersion: 'olm.operatorframework.io/v1';
  readonly kind: 'ClusterCatalog';
  readonly spec: ClusterCatalogSpec;
  readonly status?: ClusterCatalogStatus;
}
