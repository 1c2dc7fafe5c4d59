import { z } from 'zod';
import type { KubernetesObject } from '../meta.ts';
import { record } from '../record.ts';
import { conditionSchema } from './conditions.ts';

/** Class names: no dots, no slashes. */
export const classNameSchema = z.string().regex(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);

/** For Bundles and templates: the class of a BundleDeployment does something else. */
const bundleClassSchema = classNameSchema.describe(
  'Name of the provisioner class that validates and converts the content, for example core-rukpak-io-plain, core-rukpak-io-registry or core-rukpak-io-helm. Core does not reconcile an object whose class no running provisioner serves.',
);

/** `keys` of the Secret, and what the server proves its identity with. */
function authSchema({ keys, identity }: { readonly keys: string; readonly identity: string }) {
  return z.object({
    secret: z
      .object({
        name: z
          .string()
          .optional()
          .describe(
            "Name of the Secret, in the system namespace or in the namespace of the BundleDeployment's spec.serviceAccount.",
          ),
      })
      .optional()
      .describe(
        `Secret with the credentials. Core sends it only to the hosts in its annotation core.rukpak.io/source-hosts. ${keys} Defaults to anonymous access.`,
      ),
    insecureSkipVerify: z
      .boolean()
      .optional()
      .describe(
        `Disables verification of the ${identity} of the server. For tests only. Defaults to false.`,
      ),
  });
}

const gitAuthSchema = authSchema({
  keys: 'Keys for HTTP(S): username, password and ca.crt. Keys for SSH: ssh-privatekey, passphrase and ssh-knownhosts.',
  identity: 'TLS certificate or SSH host key',
});

const httpAuthSchema = authSchema({
  keys: 'Keys: username, password and ca.crt.',
  identity: 'TLS certificate',
});

export const imageSourceSchema = z.object({
  ref: z
    .string()
    .describe('Image reference, by tag or by digest. Only a digest fixes the content.'),
  pullSecret: z
    .string()
    .optional()
    .describe(
      "Name of a Secret of type kubernetes.io/dockerconfigjson with the credentials for the registry, in the system namespace or in the namespace of the BundleDeployment's spec.serviceAccount. Defaults to anonymous access.",
    ),
});

export const gitRefSchema = z.object({
  branch: z.string().optional().describe('Name of the branch. Core takes its latest commit.'),
  commit: z.string().optional().describe('Full SHA of the commit, 40 hexadecimal digits.'),
  tag: z.string().optional().describe('Name of the tag, annotated or lightweight.'),
});

export const gitSourceSchema = z.object({
  repository: z.string().describe('URL of the repository: https, http or ssh.'),
  ref: gitRefSchema.describe('Revision of the repository: exactly one of branch, commit and tag.'),
  directory: z
    .string()
    .optional()
    .describe(
      'Directory of the repository that is the root of the bundle. Defaults to the root of the repository.',
    ),
  auth: gitAuthSchema.optional().describe('Authentication to the git server.'),
});

export const configMapSourceSchema = z.object({
  configMap: z
    .object({
      name: z
        .string()
        .optional()
        .describe('Name of an immutable ConfigMap, in the system namespace.'),
    })
    .describe('ConfigMap whose keys become files of the bundle.'),
  path: z
    .string()
    .optional()
    .describe(
      'Directory of the bundle that receives the files. Defaults to the root of the bundle.',
    ),
});

export const httpSourceSchema = z.object({
  url: z.string().describe('URL of the bundle, a gzipped tar archive.'),
  checksum: z
    .string()
    .regex(/^sha256:[0-9a-f]{64}$/)
    .optional()
    .describe(
      'Digest of the archive: sha256: followed by 64 hexadecimal digits. Core refuses an archive with another digest.',
    ),
  auth: httpAuthSchema.optional().describe('Authentication to the HTTP server.'),
});

/** The CRD's oneOf demands exactly one source; the webhook checks that it matches the type. */
export const bundleSourceSchema = z.object({
  type: z
    .string()
    .describe(
      'Type of the source: image, git, configMaps, upload or http, with the field of the same name; or a type of a third party, with parameters.',
    ),
  image: imageSourceSchema.optional().describe('Image in an OCI registry.'),
  git: gitSourceSchema.optional().describe('Git repository.'),
  configMaps: z
    .array(configMapSourceSchema)
    .optional()
    .describe('ConfigMaps in the system namespace.'),
  upload: z.object({}).optional().describe('Content that a client uploads. Has no fields.'),
  http: httpSourceSchema.optional().describe('Archive on an HTTP(S) server.'),
  parameters: z
    .looseObject({})
    .optional()
    .describe(
      "Parameters of a third party's source, by the schema of that source. Only for types that are not core's own.",
    ),
});

export const bundleSpecSchema = z
  .object({
    provisionerClassName: bundleClassSchema,
    source: bundleSourceSchema.describe('Source of the content: exactly one.'),
  })
  .describe('Desired content of the Bundle. Immutable.');

export const bundlePhases = ['Pending', 'Unpacking', 'Failing', 'Unpacked'] as const;

export const bundleStatusSchema = z
  .object({
    phase: z
      .string()
      .optional()
      .describe('Progress of the Bundle: Pending, Unpacking, Failing or Unpacked.'),
    resolvedSource: bundleSourceSchema
      .optional()
      .describe(
        'Source that core fetched, pinned to a digest, commit or version. Set while the phase is Unpacked.',
      ),
    observedGeneration: z
      .int()
      .optional()
      .describe('The metadata.generation that core reconciled last.'),
    conditions: z
      .array(conditionSchema)
      .optional()
      .describe(
        'Condition Unpacked says whether core fetched and stored the content, and why not. Ready, Reconciling and Stalled summarize it by the rules of kstatus.',
      ),
    contentURL: z
      .string()
      .optional()
      .describe(
        'URL of the stored content. Clients need the ClusterRole bundle-reader. Set while the phase is Unpacked.',
      ),
  })
  .describe('Observed state of the Bundle.');

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

export const templateMetadataSchema = z.object({
  name: z.string().optional().describe('Ignored: core generates the name of the Bundle.'),
  namespace: z.string().optional().describe('Ignored: a Bundle is cluster-scoped.'),
  labels: record(z.string()).optional().describe('Labels that core copies to the Bundle.'),
  annotations: record(z.string())
    .optional()
    .describe('Annotations that core copies to the Bundle.'),
  finalizers: z.array(z.string()).optional().describe('Ignored.'),
});

export const bundleTemplateSchema = z.object({
  metadata: templateMetadataSchema
    .optional()
    .describe(
      'Metadata of the Bundle. Core copies labels and annotations and ignores the other fields.',
    ),
  spec: bundleSpecSchema.describe('Spec of the Bundle.'),
});

/** A BundleDeployment's spec.template: the Bundle to make. */
export interface BundleTemplate extends z.infer<typeof bundleTemplateSchema> {}
