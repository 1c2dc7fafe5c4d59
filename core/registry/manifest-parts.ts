import { z } from 'zod';
import { record } from '../../api/record.ts';
import type { ManifestContent } from './configuration/place.ts';
import {
  absentOr,
  descriptorSchema,
  mediaTypeOf,
  parseDocument,
  parsed,
  type TypedDescriptor,
} from './manifest.ts';

/**
 * Everything that a manifest of any kind references: a repository must have it before the manifest.
 */
export interface ManifestParts {
  /** Of the manifest itself. */
  readonly mediaType: string;
  /** Of an index; empty for all others. */
  readonly manifests: readonly TypedDescriptor[];
  /** Configuration and layers, each digest once. */
  readonly blobs: readonly TypedDescriptor[];
  /** Manifest that this one is attached to, for instance as a signature. */
  readonly subject: TypedDescriptor | undefined;
  readonly artifactType: string | undefined;
  readonly annotations: Readonly<Record<string, string>> | undefined;
}

const maxParts = 10_000;
const anyDescriptor = descriptorSchema.extend({
  artifactType: absentOr(z.string()),
  annotations: absentOr(record(z.string())),
});
const partsSchema = z.object({
  artifactType: absentOr(z.string()),
  annotations: absentOr(record(z.string())),
  subject: absentOr(anyDescriptor),
  config: absentOr(anyDescriptor),
  layers: absentOr(z.array(anyDescriptor).max(maxParts)),
  manifests: absentOr(z.array(anyDescriptor).max(maxParts)),
});

/**
 * References of an image, index or artifact, to copy together with it.
 * @throws TerminalError for an invalid manifest
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

/** Maximum images of one OCI layout: enough for a mirror of a whole catalog. */
const maxListed = 1_000_000;
const listSchema = z.object({ manifests: z.array(anyDescriptor).max(maxListed) });

/** Entries of an index, including several names of one digest. */
export function listedManifests({ bytes }: ManifestContent): readonly TypedDescriptor[] {
  return parsed(listSchema, parseDocument(bytes)).manifests;
}

/** Deduplicates by digest: the same manifest for two platforms counts once. */
function distinct(descriptors: readonly TypedDescriptor[]): readonly TypedDescriptor[] {
  return [...new Map(descriptors.map((each) => [each.digest, each])).values()];
}
