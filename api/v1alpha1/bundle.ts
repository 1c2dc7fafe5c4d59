import { z } from 'zod';
import type { KubernetesObject } from '../meta.ts';
import { conditionSchema } from './conditions.ts';

/** Class names: no dots, no slashes. */
export const classNameSchema = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/)
  .describe(
    'The provisioner class that handles the object, for example core-rukpak-io-plain or core-rukpak-io-registry. An object of a class that no running provisioner serves is left alone.',
  );

const authSchema = z.object({
  secret: z
    .object({
      name: z.string().optional().describe('Name of the Secret, in the system namespace.'),
    })
    .optional()
    .describe(
      'The Secret with the credentials: username, password and ca.crt for HTTP(S); ssh-privatekey, its passphrase and ssh-knownhosts for SSH. Without a name the source is read anonymously.',
    ),
  insecureSkipVerify: z
    .boolean()
    .optional()
    .describe('Accepts any TLS certificate or SSH host key of the server. For tests only.'),
});

export const imageSourceSchema = z.object({
  ref: z
    .string()
    .describe('The image reference, by tag or by digest. A digest makes the content certain.'),
  pullSecret: z
    .string()
    .optional()
    .describe(
      'Name of a Secret of type kubernetes.io/dockerconfigjson in the system namespace, with the credentials for the registry.',
    ),
});

export const gitRefSchema = z.object({
  branch: z.string().optional().describe('The branch whose head is taken.'),
  commit: z.string().optional().describe('The full SHA of the commit, 40 hexadecimal digits.'),
  tag: z.string().optional().describe('The tag, annotated or lightweight.'),
});

export const gitSourceSchema = z.object({
  repository: z.string().describe('URL of the repository: https, http or ssh.'),
  ref: gitRefSchema.describe('The revision: exactly one of branch, commit and tag.'),
  directory: z
    .string()
    .optional()
    .describe(
      'The directory of the repository that is the root of the bundle; its own root if absent.',
    ),
  auth: authSchema.optional().describe('How to authenticate to the git server.'),
});

export const configMapSourceSchema = z.object({
  configMap: z
    .object({
      name: z
        .string()
        .optional()
        .describe('Name of an immutable ConfigMap, in the system namespace.'),
    })
    .describe('The ConfigMap; each of its keys becomes a file of the bundle.'),
  path: z
    .string()
    .optional()
    .describe('The directory of the bundle that receives the files; its root if absent.'),
});

export const httpSourceSchema = z.object({
  url: z.string().describe('Where to get the bundle, as a gzipped tar archive.'),
  checksum: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .optional()
    .describe(
      'The digest of the archive, as sha256: and 64 hexadecimal digits; an archive with another digest is refused.',
    ),
  auth: authSchema.optional().describe('How to authenticate to the server.'),
});

/** Which block belongs to a type is checked by the webhook, that there is one by the CRD's oneOf. */
export const bundleSourceSchema = z.object({
  type: z
    .string()
    .describe('What the source is: image, git, configMaps, upload or http. Its block must be set.'),
  image: imageSourceSchema.optional().describe('An image of an OCI registry.'),
  git: gitSourceSchema.optional().describe('A git repository.'),
  configMaps: z
    .array(configMapSourceSchema)
    .optional()
    .describe('ConfigMaps of the system namespace.'),
  upload: z.object({}).optional().describe('Content that a client uploads; has no fields.'),
  http: httpSourceSchema.optional().describe('An archive on an HTTP(S) server.'),
});

export const bundleSpecSchema = z
  .object({
    provisionerClassName: classNameSchema,
    source: bundleSourceSchema.describe('Where the content comes from: exactly one source.'),
  })
  .describe('What the Bundle holds. Immutable.');

export const bundlePhases = ['Pending', 'Unpacking', 'Failing', 'Unpacked'] as const;

export const bundleStatusSchema = z
  .object({
    phase: z
      .string()
      .optional()
      .describe('How far the Bundle has come: Pending, Unpacking, Failing or Unpacked.'),
    resolvedSource: bundleSourceSchema
      .optional()
      .describe('The source as it was read, pinned to a digest or a commit. Set while Unpacked.'),
    observedGeneration: z
      .int()
      .optional()
      .describe('The metadata.generation that the status was last set upon.'),
    conditions: z
      .array(conditionSchema)
      .optional()
      .describe(
        'Unpacked: whether the content was fetched and stored, and if not, why. Ready, Reconciling and Stalled say the same by the rules of kstatus.',
      ),
    contentURL: z
      .string()
      .optional()
      .describe(
        'Where the content can be read, by clients with the role bundle-reader. Set while Unpacked.',
      ),
  })
  .describe('What the provisioner found out about the Bundle.');

/** A Bundle's status.phase. */
export type BundlePhase = (typeof bundlePhases)[number];
/** spec.source.image. */
export interface ImageSource extends z.infer<typeof imageSourceSchema> {}
/** spec.source.git. */
export interface GitSource extends z.infer<typeof gitSourceSchema> {}
/** One of spec.source.configMaps. */
export interface ConfigMapSource extends z.infer<typeof configMapSourceSchema> {}
/** spec.source.http. */
export interface HTTPSource extends z.infer<typeof httpSourceSchema> {}
/** A Bundle's spec.source: where its content comes from. */
export interface BundleSource extends z.infer<typeof bundleSourceSchema> {}
/** A Bundle's spec. */
export interface BundleSpec extends z.infer<typeof bundleSpecSchema> {}
/** A Bundle's status. */
export interface BundleStatus extends z.infer<typeof bundleStatusSchema> {}

/** Immutable content of one source, checked and converted by its provisioner class. */
export interface Bundle extends KubernetesObject {
  readonly apiVersion: 'core.rukpak.io/v1alpha1';
  readonly kind: 'Bundle';
  readonly spec: BundleSpec;
  readonly status?: BundleStatus;
}
