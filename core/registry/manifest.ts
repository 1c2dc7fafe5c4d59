import { z } from 'zod';
import { record } from '../../api/record.ts';
import { quoted, TerminalError } from '../errors.ts';
import { type Platform, selectPlatform } from './platform.ts';
import { digestProblem } from './reference.ts';

/** Digest and size that content of a repository must have. */
export interface Descriptor {
  readonly digest: string;
  /** Bytes. */
  readonly size: number;
}

/** A descriptor as in manifests. */
export interface TypedDescriptor extends Descriptor {
  readonly mediaType: string;
  readonly platform?: Platform | undefined;
  readonly artifactType?: string | undefined;
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

export interface ImageManifest {
  readonly kind: 'image';
  /** All files of an artifact are content; an image also contains files of a system. */
  readonly isArtifact: boolean;
  /** Whether the content is a packed chart, from `helm push`. */
  readonly isChart: boolean;
  readonly config: TypedDescriptor;
  /** Bottom first. */
  readonly layers: readonly Descriptor[];
}

interface IndexManifest {
  readonly kind: 'index';
  /** The manifest of one platform. */
  select(platform: Platform): Descriptor;
}

const indexTypes: ReadonlySet<string> = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);
const imageTypes: ReadonlySet<string> = new Set([
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]);
const configTypes: ReadonlySet<string> = new Set([
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.docker.container.image.v1+json',
]);
/** The bytes decide which compression a layer has, as in container runtimes. */
const layerTypes: ReadonlySet<string> = new Set([
  'application/vnd.oci.image.layer.v1.tar',
  'application/vnd.oci.image.layer.v1.tar+gzip',
  'application/vnd.oci.image.layer.v1.tar+zstd',
  'application/vnd.docker.image.rootfs.diff.tar',
  'application/vnd.docker.image.rootfs.diff.tar.gzip',
  'application/vnd.docker.image.rootfs.diff.tar.zstd',
]);

/** Media types of a Helm chart from `helm push`; its signature is in a separate layer. */
const chartType = {
  config: 'application/vnd.cncf.helm.config.v1+json',
  provenance: 'application/vnd.cncf.helm.chart.provenance.v1.prov',
} as const;

/**
 * Media type of an artifact's only layer. No media type for a file tree exists, so this accepts any
 * that names tar, or that names a compression and no content.
 */
const archiveType = /(?:^|[/.+-])(?:tar|tgz|gzip|x-gzip|zstd)(?:[.+-](?:gzip|gz|zstd|zst))?$/;

/** For the Accept header. */
export const manifestMediaTypes: readonly string[] = [...indexTypes, ...imageTypes];

const maxLayers = 256;

/** A field that may be missing or null: Go's programs write null for an empty list or map. */
export function absentOr<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

export const descriptorSchema = z.object({
  mediaType: z.string(),
  digest: z.string().refine((digest) => digestProblem(digest) === undefined, 'not a valid digest'),
  size: z.int().nonnegative(),
  platform: absentOr(
    z.object({ os: z.string(), architecture: z.string(), variant: z.string().optional() }),
  ),
});
type Layer = z.infer<typeof descriptorSchema>;
const indexSchema = z.object({
  manifests: z.array(
    descriptorSchema.extend({
      artifactType: absentOr(z.string()),
      annotations: absentOr(record(z.string())),
    }),
  ),
});
const imageSchema = z.object({
  artifactType: absentOr(z.string()),
  config: descriptorSchema,
  layers: z.array(descriptorSchema).max(maxLayers, `more than ${maxLayers} layers`),
});
const typeSchema = z.object({
  schemaVersion: z.unknown().optional(),
  mediaType: z.string().optional(),
  manifests: z.unknown().optional(),
});

/**
 * Parses a manifest.
 * @throws TerminalError for anything but an image, an artifact of one archive, or an index of them
 */
export function parseManifest(
  bytes: Uint8Array,
  contentType: string,
): ImageManifest | IndexManifest {
  const document = parseDocument(bytes);
  const type = mediaTypeOf(document, contentType);
  if (indexTypes.has(type)) {
    const { manifests } = parsed(indexSchema, document);
    return { kind: 'index', select: (platform) => selectPlatform(manifests, platform) };
  }
  if (!imageTypes.has(type)) throw new TerminalError(refusal(type));
  const { config, layers, artifactType } = parsed(imageSchema, document);
  const isArtifact = !configTypes.has(config.mediaType);
  const isChart = config.mediaType === chartType.config;
  const content = isChart ? withoutProvenance(layers) : layers;
  if (isArtifact) checkArtifact(artifactType ?? config.mediaType, content);
  else checkLayers(layers);
  return { kind: 'image', isArtifact, isChart, config, layers: content };
}

function withoutProvenance(layers: readonly Layer[]): readonly Layer[] {
  return layers.filter(({ mediaType }) => mediaType !== chartType.provenance);
}

function checkLayers(layers: readonly Layer[]): void {
  const other = layers.find(({ mediaType }) => !layerTypes.has(mediaType));
  if (other === undefined) return;
  throw new TerminalError(
    `layer ${other.digest} has the unsupported media type ${quoted(other.mediaType)}`,
  );
}

/** Bundles may also be pushed as artifacts of one archive. */
function checkArtifact(type: string, layers: readonly Layer[]): void {
  const [layer, another] = layers;
  if (layer !== undefined && another === undefined && archiveType.test(layer.mediaType)) return;
  const has = layers.map(({ mediaType }) => quoted(mediaType)).slice(0, 5);
  throw new TerminalError(
    `it is an artifact of type ${quoted(type)} and no bundle, which has a tar archive as its only layer; its layers are ${has.join(', ') || 'none'}`,
  );
}

/** A manifest's JSON, without validation. */
export function parseDocument(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new TerminalError('the manifest is not valid JSON', { cause: error });
  }
}

/** The manifest's own media type; the registry's if the manifest has none. */
export function mediaTypeOf(document: unknown, contentType: string): string {
  const { schemaVersion, mediaType, manifests } = parsed(typeSchema, document);
  if (mediaType !== undefined && mediaType !== '') return mediaType;
  if (schemaVersion === 1) return 'application/vnd.docker.distribution.manifest.v1+json';
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (indexTypes.has(type) || imageTypes.has(type)) {
    // Other clients could read an ambiguous manifest in the other way.
    if (imageTypes.has(type) && manifests !== undefined) {
      throw new TerminalError('the manifest is said to be an image, but lists manifests');
    }
  }
  return type;
}

function refusal(type: string): string {
  if (/manifest\.v1\+(?:json|prettyjws)$/.test(type) && type.includes('docker')) {
    return 'image manifest schema 1 is not supported; push the image again with a current tool';
  }
  if (type.includes('artifact'))
    return `it is an artifact manifest (${quoted(type)}), not an image`;
  return `unsupported manifest media type ${quoted(type)}`;
}

export function parsed<T>(schema: z.ZodType<T>, document: unknown): T {
  const result = schema.safeParse(document);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const path = issue?.path.join('.') ?? '';
  throw new TerminalError(
    `the manifest is not valid: ${path === '' ? '' : `${path}: `}${issue?.message ?? 'unknown'}`,
  );
}
