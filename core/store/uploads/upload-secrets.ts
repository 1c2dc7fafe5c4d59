import { z } from 'zod';
import type { KubernetesObject } from '../../../api/meta.ts';
import { record } from '../../../api/record.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import type { ContentKey } from '../../contracts/store.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  acceptMetadata,
  collectionPath,
  type KubeClient,
  queryString,
  secretResource,
} from '../../platform/kube/index.ts';

export const uploadLabel = {
  /** `chunk` or `index`. */
  part: 'core.rukpak.io/upload',
  /** The Bundle's UID. */
  of: 'core.rukpak.io/upload-of',
  set: 'core.rukpak.io/upload-set',
} as const;

const uploadAnnotation = {
  digest: 'core.rukpak.io/upload-digest',
  chunks: 'core.rukpak.io/upload-chunks',
} as const;

const secretType = 'core.rukpak.io/upload';
const chunkKey = 'chunk';
/** Names of Bundles may be longer. */
const maxLabelLength = 63;

/** The chunks that one PUT wrote. */
export interface UploadSet {
  /** Random, so that two PUTs never write the same chunks. */
  readonly set: string;
  readonly chunks: number;
  /** SHA-256 of all chunks, as hex. */
  readonly digest: string;
}

export function indexName(uid: string): string {
  return `upload-${uid}`;
}

export function chunkName(uid: string, set: string, index: number): string {
  return `upload-${uid}-${set}-${index}`;
}

/** The set that an index names; undefined for a Secret that is not an index. */
export function setOf({ metadata }: KubernetesObject): UploadSet | undefined {
  const set = metadata.labels?.[uploadLabel.set];
  const digest = metadata.annotations?.[uploadAnnotation.digest];
  const chunks = Number(metadata.annotations?.[uploadAnnotation.chunks]);
  if (set === undefined || digest === undefined || !Number.isSafeInteger(chunks)) return undefined;
  return { set, digest, chunks };
}

export function aChunk(
  namespace: string,
  key: ContentKey,
  { set, index, bytes }: { set: string; index: number; bytes: Uint8Array },
): KubernetesObject {
  const name = chunkName(key.uid, set, index);
  const secret = aSecret(namespace, key, { name, part: 'chunk', set });
  return {
    ...secret,
    immutable: true,
    data: { [chunkKey]: Buffer.from(bytes).toString('base64') },
  };
}

export function chunkBytes(secret: KubernetesObject): Uint8Array {
  const data = (secret['data'] ?? {}) as Readonly<Record<string, string>>;
  return Buffer.from(data[chunkKey] ?? '', 'base64');
}

export function anIndex(
  namespace: string,
  key: ContentKey,
  { set, digest, chunks }: UploadSet,
): KubernetesObject {
  const secret = aSecret(namespace, key, { name: indexName(key.uid), part: 'index', set });
  const annotations = {
    [uploadAnnotation.digest]: digest,
    [uploadAnnotation.chunks]: String(chunks),
  };
  return { ...secret, metadata: { ...secret.metadata, annotations } };
}

function aSecret(
  namespace: string,
  { name: bundle, uid }: ContentKey,
  { name, part, set }: { name: string; part: 'chunk' | 'index'; set: string },
): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: {
        [uploadLabel.part]: part,
        [uploadLabel.of]: uid,
        [uploadLabel.set]: set,
        [label.ownerKind]: 'Bundle',
        ...(bundle.length <= maxLabelLength && { [label.ownerName]: bundle }),
      },
      // The garbage collector deletes it with the Bundle.
      ownerReferences: [
        { apiVersion: 'core.rukpak.io/v1alpha1', kind: 'Bundle', name: bundle, uid },
      ],
    },
    type: secretType,
  };
}

interface UploadSecrets {
  readonly client: Pick<KubeClient, 'request'>;
  readonly namespace: string;
  readonly signal: AbortSignal;
}

/** Secrets to delete: those with this value of the label. */
interface Garbage {
  readonly label: string;
  readonly value: string;
}

const secretItem = z.object({
  metadata: z.object({
    labels: record(z.string()),
    ownerReferences: z.array(z.object({ kind: z.string(), name: z.string() })).optional(),
  }),
});

const secretList = z.object({
  metadata: z.object({ continue: z.string().optional() }),
  // An empty list has `items: null`.
  items: z.array(secretItem).nullable(),
});

type SecretMetadata = z.infer<typeof secretItem>['metadata'];

const pageSize = 500;
/** Milliseconds; longer than any PUT needs to name its chunks in the index. */
const orphanAge = 60 * 60_000;

/**
 * Sets of chunks that no index names, since when. By this process's own time: one whose clock is
 * ahead would take the chunks of a running PUT for old ones.
 */
export class OrphanedSets {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #since: ReadonlyMap<string, number> = new Map();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Those of the present ones that have been there for long. */
  old(present: readonly string[]): readonly string[] {
    const now = this.#clock.monotonic();
    this.#since = new Map(present.map((set) => [set, this.#since.get(set) ?? now]));
    return present.filter((set) => now - (this.#since.get(set) ?? now) > orphanAge);
  }
}

interface CollectOptions {
  readonly isWanted: (key: ContentKey) => Promise<boolean>;
  readonly orphans: OrphanedSets;
}

/** Upload Secrets to delete: of Bundles without uploads, and of interrupted PUTs. */
export async function collectUploads(
  secrets: UploadSecrets,
  { isWanted, orphans }: CollectOptions,
): Promise<readonly Garbage[]> {
  const unwanted: Garbage[] = [];
  const orphaned: string[] = [];
  for (const [uid, parts] of Map.groupBy(await listSecrets(secrets), uidOf)) {
    if (await isWanted({ name: bundleOf(parts), uid })) orphaned.push(...orphansOf(parts));
    else unwanted.push({ label: uploadLabel.of, value: uid });
  }
  const old = orphans.old(orphaned).map((value) => ({ label: uploadLabel.set, value }));
  return [...unwanted, ...old];
}

function bundleOf([first]: readonly SecretMetadata[]): string {
  const owner = first?.ownerReferences?.find(({ kind }) => kind === 'Bundle');
  return owner?.name ?? first?.labels[label.ownerName] ?? '';
}

function orphansOf(parts: readonly SecretMetadata[]): readonly string[] {
  const setOf = ({ labels }: SecretMetadata): string => labels[uploadLabel.set] ?? '';
  const index = parts.find(({ labels }) => labels[uploadLabel.part] === 'index');
  const current = index && setOf(index);
  return [...new Set(parts.map(setOf))].filter((set) => set !== current);
}

/** Only metadata: all contents together may exceed this process's memory. */
async function listSecrets({
  client,
  namespace,
  signal,
}: UploadSecrets): Promise<readonly SecretMetadata[]> {
  const found: SecretMetadata[] = [];
  const query = { labelSelector: uploadLabel.part, limit: pageSize };
  let next: string | undefined;
  do {
    const path =
      collectionPath(secretResource, namespace) + queryString({ ...query, continue: next });
    const page = await client.request({ method: 'GET', path, accept: acceptMetadata.list, signal });
    const { metadata, items } = secretList.parse(page);
    found.push(...(items ?? []).map((item) => item.metadata));
    next = metadata.continue === '' ? undefined : metadata.continue;
  } while (next !== undefined);
  return found;
}

function uidOf({ labels }: SecretMetadata): string {
  return labels[uploadLabel.of] ?? '';
}
