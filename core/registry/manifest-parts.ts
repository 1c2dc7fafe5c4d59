import { z } from 'zod';
import { record } from '../../api/record.ts';
import {
  descriptorSchema,
  mediaTypeOf,
  parseDocument,
  parsed,
  type TypedDescriptor,
} from './manifest.ts';
import type { ManifestContent } from './place.ts';

/** What a manifest of any kind names: all of it has to be in a repository before it. */
export interface ManifestParts {
  /** Of the manifest itself. */
  readonly mediaType: string;
  /** Of an index; empty for all others. */
  readonly manifests: readonly TypedDescriptor[];
  /** Configuration and layers, each digest once. */
  readonly blobs: readonly TypedDescriptor[];
  /** What the manifest is about, as signatures are. */
  readonly subject: TypedDescriptor | undefined;
  readonly artifactType: string | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

const maxParts = 10_000;
const anyDescriptor = descriptorSchema.extend({
  artifactType: z.string().optional(),
  annotations: record(z.string()).optional(),
});
const partsSchema = z.object({
  artifactType: z.string().optional(),
  annotations: record(z.string()).optional(),
  subject: anyDescriptor.optional(),
  config: anyDescriptor.optional(),
  layers: z.array(anyDescriptor).max(maxParts).optional(),
  manifests: z.array(anyDescriptor).max(maxParts).optional(),
});

/**
 * What an image, index or artifact names, to be copied with it.
 * @throws TerminalError for what is no manifest
 */
export function manifestParts({ bytes, contentType }: ManifestContent): ManifestParts {
  const document = parseDocument(bytes);
  const mediaType = mediaTypeOf(document, contentType);
  const { config, layers = [], manifests = [], ...rest } = parsed(partsSchema, document);
  const blobs = [...(config === undefined ? [] : [config]), ...layers];
  return {
    mediaType,
    manifests: distinct(manifests),
    blobs: distinct(blobs),
    subject: rest.subject,
    artifactType: rest.artifactType ?? config?.mediaType,
    annotations: rest.annotations,
  };
}

/** Most images that one OCI layout has, as a mirror of a whole catalog may. */
const maxListed = 1_000_000;
const listSchema = z.object({ manifests: z.array(anyDescriptor).max(maxListed) });

/** The entries of an index, also where several are of one digest with different names. */
export function listedManifests({ bytes }: ManifestContent): readonly TypedDescriptor[] {
  return parsed(listSchema, parseDocument(bytes)).manifests;
}

/** A list entry by the digest alone: the same manifest for two platforms is one. */
function distinct(descriptors: readonly TypedDescriptor[]): readonly TypedDescriptor[] {
  return [...new Map(descriptors.map((each) => [each.digest, each])).values()];
}
