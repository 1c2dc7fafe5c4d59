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

/** The operations on a repository that finding signatures needs. */
export interface SignatureRepository {
  /** Undefined when the registry reports that there is none; rejects when it does not answer. */
  findManifest(reference: string, signal: AbortSignal): Promise<ManifestContent | undefined>;
  /** The index of a digest's referrers; undefined when the registry does not support them. */
  findReferrers(digest: string, signal: AbortSignal): Promise<ManifestContent | undefined>;
  blob(descriptor: Descriptor, signal: AbortSignal): AsyncIterable<Uint8Array> & Verifiable;
}

interface Verifiable {
  verify(): Promise<void>;
  close(): void;
}

/** A payload has some hundred bytes, a bundle some thousand. */
const maxSignatureSize = 1024 * 1024;

const descriptorSchema = z.object({
  mediaType: z.string(),
  digest: z.string().refine((digest) => digestProblem(digest) === undefined),
  size: z.int().nonnegative().max(maxSignatureSize),
  annotations: record(z.string()).nullish(),
  artifactType: z.string().nullish(),
});
const layersSchema = z.object({ layers: z.array(z.unknown()) });
const referrersSchema = z.object({ manifests: z.array(z.unknown()) });

type SignatureLayer = z.infer<typeof descriptorSchema>;

/**
 * The alleged signatures of a manifest: under cosign's tag, and as referrers, by the API or its
 * fallback tag (distribution spec). Ignores malformed ones.
 * @throws Error when the registry does not answer
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
  return descriptors(layers).filter((layer) => layer.mediaType === mediaType);
}

/** The valid ones of a list to which anybody who may push adds others. */
function descriptors(list: readonly unknown[]): readonly SignatureLayer[] {
  return list.flatMap((each) => descriptorSchema.safeParse(each).data ?? []);
}

async function referringLayers(
  repository: SignatureRepository,
  index: ManifestContent | undefined,
  signal: AbortSignal,
): Promise<readonly SignatureLayer[]> {
  const { manifests = [] } = parse(referrersSchema, index) ?? {};
  const found: SignatureLayer[] = [];
  const bundles = descriptors(manifests).filter(
    ({ artifactType }) => artifactType === sigstoreBundleMediaType,
  );
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

/** Anybody who may push can attach a broken signature: it must not hide a good one. */
function readStatement(
  content: Uint8Array,
  { mediaType, annotations }: SignatureLayer,
): SignedStatement | undefined {
  try {
    return mediaType === simpleSigningMediaType
      ? readSimpleSignature(content, annotations ?? {})
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
