import { z } from 'zod';
import { record } from '../../../api/record.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import type {
  BlobToPush,
  ImagePlace,
  ImageTarget,
  ManifestContent,
  ManifestToPush,
} from '../configuration/place.ts';
import { absentOr, parseDocument } from '../manifest.ts';
import { manifestParts } from '../manifest-parts.ts';
import { mediaTypes } from '../media-types.ts';
import { digestOf } from '../reference.ts';
import { blobBytes } from './blob-bytes.ts';

/** What cosign has attached to an image by a tag: `sha256-<hex>.sig`, `.att` or `.sbom`. */
export interface AttachedTag {
  readonly tag: string;
  /** Of the source's manifest. */
  readonly digest: string;
  readonly place: ImagePlace;
  readonly target: ImageTarget;
  readonly signal: AbortSignal;
}

/** How a target gets an attachment without losing any of its own under the same tag. */
export type AttachedPush =
  /** The target has all of it. */
  | { readonly kind: 'present' }
  /** Push the source's manifest: it has all that the target has. */
  | { readonly kind: 'copy' }
  /** Push these: they have the layers of both. */
  | { readonly kind: 'union'; readonly config: BlobToPush; readonly manifest: ManifestToPush }
  /** The two cannot be joined, so the target's stays. */
  | { readonly kind: 'kept'; readonly reason: string };

/** Maximum layers of a manifest that cosign reads. */
const maxLayers = 1_000;
const maxConfigSize = 1024 * 1024;

const descriptor = z.looseObject({ mediaType: z.string(), digest: z.string(), size: z.int() });
const listSchema = z.looseObject({
  config: descriptor.extend({ mediaType: z.enum([mediaTypes.ociConfig, mediaTypes.dockerConfig]) }),
  layers: z.array(descriptor.extend({ annotations: absentOr(record(z.string())) })),
});
type AttachedList = z.infer<typeof listSchema>;
const configSchema = z.looseObject({ rootfs: z.looseObject({}).optional() });

/** Compares what the source and the target have under a tag of cosign. */
export async function attachedPush(attached: AttachedTag): Promise<AttachedPush> {
  const { tag, digest, place, target, signal } = attached;
  const known = await target.findDigest(tag, signal);
  if (known === undefined) return { kind: 'copy' };
  if (known === digest) return { kind: 'present' };
  const before = await target.place.manifest(known, signal);
  const [ours, theirs] = [listOf(await place.manifest(digest, signal)), listOf(before)];
  if (ours === undefined || theirs === undefined) {
    return { kind: 'kept', reason: 'one of the two is no list of signatures' };
  }
  const added = without(ours, theirs);
  if (added.length === 0) return { kind: 'present' };
  if (without(theirs, ours).length === 0) return { kind: 'copy' };
  if (tag.endsWith('.sbom')) {
    return { kind: 'kept', reason: 'cosign reads only one SBOM of an image' };
  }
  const layers = [...theirs.layers, ...added];
  if (layers.length > maxLayers) {
    return { kind: 'kept', reason: `cosign reads no more than ${maxLayers} signatures` };
  }
  return await unionOf({ ...theirs, layers }, before, attached);
}

/** Undefined for anything but a manifest as cosign writes it. */
function listOf({ bytes }: ManifestContent): AttachedList | undefined {
  return listSchema.safeParse(parseDocument(bytes)).data;
}

/** The layers of a list that another one lacks. */
function without(list: AttachedList, other: AttachedList): AttachedList['layers'] {
  const known = new Set(other.layers.map(identityOf));
  return list.layers.filter((layer) => !known.has(identityOf(layer)));
}

/** Annotations hold the signature: several signatures may have one payload. */
function identityOf({ digest, annotations = {} }: AttachedList['layers'][number]): string {
  return JSON.stringify([
    digest,
    Object.entries(annotations).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ]);
}

async function unionOf(
  list: AttachedList,
  before: ManifestContent,
  { tag, target, signal }: AttachedTag,
): Promise<AttachedPush> {
  try {
    // cosign adds a further signature only where the configuration lists the same layers. They are
    // not compressed: each is its own content.
    const diffIds = list.layers.map(({ digest }) => digest);
    const config = await readConfig(list, target.place, signal);
    const rootfs = { type: 'layers', ...config.rootfs, diff_ids: diffIds };
    const bytes = Buffer.from(JSON.stringify({ ...config, rootfs }));
    const written = { digest: digestOf(bytes), size: bytes.byteLength };
    const document = { ...list, config: { ...list.config, ...written } };
    const { mediaType } = manifestParts(before);
    return {
      kind: 'union',
      config: { descriptor: written, open: () => [bytes] },
      manifest: { bytes: Buffer.from(JSON.stringify(document)), mediaType, tag },
    };
  } catch (error) {
    if (!(error instanceof TerminalError || error instanceof z.ZodError)) throw error;
    return { kind: 'kept', reason: `its configuration cannot be read: ${errorMessage(error)}` };
  }
}

async function readConfig(
  { config }: AttachedList,
  place: ImagePlace,
  signal: AbortSignal,
): Promise<z.infer<typeof configSchema>> {
  if (config.size > maxConfigSize) throw new TerminalError(`it has ${config.size} bytes`);
  const chunks: Uint8Array[] = [];
  for await (const chunk of blobBytes(place, config, signal)) chunks.push(chunk);
  return configSchema.parse(parseDocument(Buffer.concat(chunks)));
}
