import { z } from 'zod';

/** Fields of oc-mirror's ImageSetConfiguration: v1alpha2 and v2alpha1 differ in few. */
const version = z
  .string({ error: notText })
  .regex(
    /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/,
    'it is no version such as 1.2.3',
  )
  .optional();
const text = z.string({ error: notText }).min(1, 'it is empty');
const image = z.strictObject({ name: text });

const channel = z.strictObject({ name: text, minVersion: version, maxVersion: version });
const catalogPackage = z.strictObject({
  name: text,
  defaultChannel: text.optional(),
  channels: z.array(channel).default([]),
  minVersion: version,
  maxVersion: version,
});
const path = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const operator = z.strictObject({
  catalog: text,
  full: z.boolean().default(false),
  packages: z.array(catalogPackage).default([]),
  targetCatalog: text
    .regex(
      new RegExp(`^${path}(?:/${path})*$`),
      'it must be the path of a repository, without registry, tag and digest',
    )
    .optional(),
  /** v1alpha2's field for only the last part of the path. */
  targetName: text
    .regex(new RegExp(`^${path}$`), 'it must be the last part of a repository')
    .optional(),
  targetTag: text.regex(/^\w[\w.-]{0,127}$/, 'it is no tag').optional(),
  skipDependencies: z.boolean().optional(),
  targetCatalogSourceTemplate: z.string().optional(),
});

/** A field of oc-mirror that this program ignores. */
const leftOut = z.unknown().optional();

export const imageSetSchema = z.strictObject(
  {
    kind: z.literal('ImageSetConfiguration', { error: 'it must be ImageSetConfiguration' }),
    apiVersion: z.enum(['mirror.openshift.io/v1alpha2', 'mirror.openshift.io/v2alpha1'], {
      error: 'it must be mirror.openshift.io/v2alpha1 or mirror.openshift.io/v1alpha2',
    }),
    metadata: leftOut,
    archiveSize: leftOut,
    storageConfig: leftOut,
    mirror: z.strictObject({
      operators: z.array(operator).default([]),
      additionalImages: z.array(image).default([]),
      blockedImages: z.array(image).default([]),
      platform: leftOut,
      helm: leftOut,
      samples: leftOut,
    }),
  },
  {
    error: ({ code }) =>
      code === 'invalid_type' ? 'it must be an ImageSetConfiguration' : undefined,
  },
);

export type WrittenImageSet = z.infer<typeof imageSetSchema>;
export type WrittenOperator = z.infer<typeof operator>;

/** YAML reads unquoted texts such as `4.10` as numbers or booleans: it would lose the zero. */
function notText({ input }: { readonly input?: unknown }): string {
  return typeof input === 'number' || typeof input === 'boolean'
    ? 'write the text in quotes'
    : 'it must be a text';
}

/** Ignored fields, with their alternatives. */
export const leftOutFields: Readonly<Record<string, string>> = {
  archiveSize: 'a directory is one piece; split it with the tools of the medium',
  storageConfig: 'the record of what was carried lies in the directory itself (--since)',
  'mirror.platform': 'use oc-mirror for releases of OpenShift',
  'mirror.helm': 'push charts with helm, and list their images in mirror.additionalImages',
  'mirror.samples': 'list the images in mirror.additionalImages',
};
