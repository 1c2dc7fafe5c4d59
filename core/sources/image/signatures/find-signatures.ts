import { z } from 'zod';
import { record } from '../../../../api/record.ts';
import { type Descriptor, digestProblem, type ManifestContent } from '../../../registry/index.ts';
import {
  maxSignatures,
  readSigstoreBundle,
  readSimpleSignature,
  type SignedStatement,
  sigstoreBundleMediaType,
  simpleSigningMediaType,
} from './signed-statement.ts';

/** One repository of a registry, as far as it is needed to find signatures. */
export interface SignatureRepository {
  /** Undefined where the registry says that there is none; rejects where it does not answer. */
  findManifest(reference: string, signal: AbortSignal): Promise<ManifestContent | undefined>;
  /** The index of what refers to a digest; undefined where the registry keeps none. */
  findReferrers(digest: string, signal: AbortSignal): Promise<ManifestContent | undefined>;
  blob(descriptor: Descriptor, signal: AbortSignal): AsyncIterable<Uint8Array> & Verifiable;
}

interface Verifiable {
  verify(): Promise<void>;
  close(): void;
}

/** A payload is some hundred bytes, a bundle some thousand. */
const maxSignatureSize = 1024 * 1024;

const descriptorSchema = z.object({
  mediaType: z.string(),
  digest: z.string().refine((digest) => digestProblem(digest) === undefined),
  size: z.int().nonnegative().max(maxSignatureSize),
  annotations: record(z.string()).optional(),
  artifactType: z.string().optional(),
});
const layersSchema = z.object({ layers: z.array(descriptorSchema) });
const referrersSchema = z.object({ manifests: z.array(descriptorSchema) });

type SignatureLayer = z.infer<typeof descriptorSchema>;

/**
 * What is attached to a manifest and claims to sign it: under cosign's tag, and as referrers, by the
 * API or its fallback tag (distribution spec). What is malformed counts as not there.
 * @throws where the registry does not answer
 */
export async function findSignatures(
  repository: SignatureRepository,
  digest: string,
  signal: AbortSignal,
): Promise<readonly SignedStatement[]> {
  const tag = digest.replace(':', '-');
  const attached = await repository.findManifest(`${tag}.sig`, signal);
  const referrers =
    (await repository.findReferrers(digest, signal)) ??
    (await repository.findManifest(tag, signal));
  const layers = [
    ...layersOf(attached, simpleSigningMediaType),
    ...(await referringLayers(repository, referrers, signal)),
  ];
  const statements: SignedStatement[] = [];
  for (const layer of layers.slice(0, maxSignatures)) {
    const content = await readBlob(repository, layer, signal);
    const statement = readStatement(content, layer);
    if (statement !== undefined) statements.push(statement);
  }
  return statements;
}

function layersOf(
  manifest: ManifestContent | undefined,
  mediaType: string,
): readonly SignatureLayer[] {
  const { layers = [] } = parse(layersSchema, manifest) ?? {};
  return layers.filter((layer) => layer.mediaType === mediaType);
}

async function referringLayers(
  repository: SignatureRepository,
  index: ManifestContent | undefined,
  signal: AbortSignal,
): Promise<readonly SignatureLayer[]> {
  const { manifests = [] } = parse(referrersSchema, index) ?? {};
  const found: SignatureLayer[] = [];
  const bundles = manifests.filter(({ artifactType }) => artifactType === sigstoreBundleMediaType);
  for (const { digest } of bundles.slice(0, maxSignatures)) {
    const manifest = await repository.findManifest(digest, signal);
    found.push(...layersOf(manifest, sigstoreBundleMediaType));
  }
  return found;
}

async function readBlob(
  repository: SignatureRepository,
  layer: SignatureLayer,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const blob = repository.blob(layer, signal);
  try {
    const chunks: Uint8Array[] = [];
    for await (const chunk of blob) chunks.push(chunk);
    await blob.verify();
    return Buffer.concat(chunks);
  } finally {
    blob.close();
  }
}

/** Anybody who may push can attach something broken: it must not hide the good one beside it. */
function readStatement(
  content: Uint8Array,
  { mediaType, annotations = {} }: SignatureLayer,
): SignedStatement | undefined {
  try {
    return mediaType === simpleSigningMediaType
      ? readSimpleSignature(content, annotations)
      : readSigstoreBundle(content);
  } catch {
    return undefined;
  }
}

function parse<T>(schema: z.ZodType<T>, manifest: ManifestContent | undefined): T | undefined {
  if (manifest === undefined) return undefined;
  try {
    return schema.parse(JSON.parse(Buffer.from(manifest.bytes).toString('utf8')));
  } catch {
    return undefined;
  }
}
