import { z } from 'zod';
import type { ServerKeywords } from '../../crd/structural-schema.ts';
import type { KubernetesObject } from '../../meta.ts';
import { conditionSchema } from '../../v1alpha1/conditions.ts';

export const catalogImageSchema = z
  .object({
    ref: z.string().describe('Reference of the catalog image, by tag or by digest.'),
    pullSecret: z
      .string()
      .optional()
      .describe(
        'Name of a Secret of type kubernetes.io/dockerconfigjson or kubernetes.io/dockercfg in the system namespace, with the credentials for the registry. Defaults to anonymous access.',
      ),
    // A text that is no duration is a problem of this Catalog, and not of the API server.
    pollInterval: z
      .string()
      .optional()
      .describe(
        'Interval at which the controller looks for a new image under the tag, as a Go duration, for example 10m or 24h. 0s disables polling. Only for references by tag. Defaults to no polling.',
      ),
    insecureSkipTLSVerify: z
      .boolean()
      .optional()
      .describe(
        "Disables verification of the registry's TLS certificate. For tests only. Defaults to false.",
      ),
  })
  .describe('Catalog image in an OCI registry.');

export const catalogSourceSchema = z
  .object({
    type: z.string().describe('Type of the source. The only supported type is image.'),
    image: catalogImageSchema.optional(),
  })
  .describe('Source of the content.');

export const catalogSpecSchema = z
  .object({ source: catalogSourceSchema })
  .meta({
    'x-kubernetes-validations': [
      {
        rule: `!has(self.source.image.pollInterval) || (self.source.image.pollInterval == "") || (self.source.image.ref.find('@sha256:') == "")`,
        message: 'cannot specify PollInterval while using digest-based image',
      },
    ],
  } satisfies ServerKeywords)
  .describe('Desired content of the Catalog.');

export const resolvedCatalogSourceSchema = z
  .object({
    type: z.string().describe('Type of the source.'),
    image: z
      .object({
        ref: z.string().describe('Reference of the image in the spec at that time.'),
        resolvedRef: z
          .string()
          .describe(
            'Reference of the image by digest. For an image index, the digest of the index.',
          ),
        lastPollAttempt: z
          .string()
          .meta({ format: 'date-time' } satisfies ServerKeywords)
          .describe('Time of the last successful check of the image.'),
        pullSecret: z.string().optional().describe('Never set. Kept for clients of the API.'),
      })
      .optional()
      .describe('Catalog image that the controller fetched.'),
  })
  .describe(
    'Source of the content that is served, pinned to a digest. The previous one stays while the controller cannot fetch a new one, or has to fetch this content again.',
  );

export const catalogPhases = ['Pending', 'Unpacking', 'Failing', 'Unpacked'] as const;

export const catalogStatusSchema = z
  .object({
    conditions: z
      .array(conditionSchema)
      .optional()
      .describe(
        'Condition Unpacked says whether the controller fetched and stored the content, Delete why it could not delete it. Ready, Reconciling and Stalled summarize them by the rules of kstatus.',
      ),
    phase: z
      .string()
      .optional()
      .describe('Progress of the Catalog, for people: Pending, Unpacking, Failing or Unpacked.'),
    resolvedSource: resolvedCatalogSourceSchema.optional(),
    contentURL: z
      .string()
      .optional()
      .describe(
        'URL of the whole content as JSON lines. The previous content stays at this URL while the controller cannot fetch a new one.',
      ),
    observedGeneration: z
      .int()
      .optional()
      .describe('The metadata.generation whose content the controller unpacked last.'),
    packages: z.int().optional().describe('Number of packages in the content.'),
  })
  .describe('Observed state of the Catalog.');

/** A Catalog's status.phase. */
export type CatalogPhase = (typeof catalogPhases)[number];
/** spec.source.image. */
export interface CatalogImage extends z.infer<typeof catalogImageSchema> {}
/** A Catalog's spec. */
export interface CatalogSpec extends z.infer<typeof catalogSpecSchema> {}
/** status.resolvedSource. */
export interface ResolvedCatalogSource extends z.infer<typeof resolvedCatalogSourceSchema> {}
/** A Catalog's status. */
export interface CatalogStatus extends z.infer<typeof catalogStatusSchema> {}

/** A file-based catalog, as OpenShift 4.15 has it. The API server accepts one without a spec. */
export interface Catalog extends KubernetesObject {
  readonly apiVersion: 'catalogd.operatorframework.io/v1alpha1';
  readonly kind: 'Catalog';
  readonly spec?: CatalogSpec;
  readonly status?: CatalogStatus;
}
