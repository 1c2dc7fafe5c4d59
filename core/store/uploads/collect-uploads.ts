import { z } from 'zod';
import { record } from '../../../api/record.ts';
import { label } from '../../../api/v1alpha1/labels.ts';
import type { ContentKey } from '../../contracts/store.ts';
import {
  acceptMetadata,
  collectionPath,
  type KubeClient,
  queryString,
  secretResource,
} from '../../platform/kube/index.ts';
import { uploadLabel } from './upload-secrets.ts';

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
    creationTimestamp: z.string(),
    labels: record(z.string()),
  }),
});

const secretList = z.object({
  metadata: z.object({ continue: z.string().optional() }),
  // An empty list has null.
  items: z.array(secretItem).nullable(),
});

type SecretMetadata = z.infer<typeof secretItem>['metadata'];

const pageSize = 500;
/** Longer than any PUT takes to name its chunks in the index. */
const orphanAge = 60 * 60_000;

/** What is to be deleted of the uploads in Secrets: of unwanted Bundles, and of PUTs that broke off. */
export async function collectUploads(
  secrets: UploadSecrets,
  isWanted: (key: ContentKey) => Promise<boolean>,
): Promise<readonly Garbage[]> {
  const garbage: Garbage[] = [];
  for (const [uid, parts] of Map.groupBy(await listSecrets(secrets), uidOf)) {
    const name = parts[0]?.labels[label.ownerName] ?? '';
    if (await isWanted({ name, uid })) garbage.push(...orphansOf(parts));
    else garbage.push({ label: uploadLabel.of, value: uid });
  }
  return garbage;
}

function orphansOf(parts: readonly SecretMetadata[]): Garbage[] {
  const setOf = ({ labels }: SecretMetadata): string => labels[uploadLabel.set] ?? '';
  const index = parts.find(({ labels }) => labels[uploadLabel.part] === 'index');
  const current = index && setOf(index);
  const old = parts.filter(
    (part) =>
      setOf(part) !== current && Date.now() - Date.parse(part.creationTimestamp) > orphanAge,
  );
  return [...new Set(old.map(setOf))].map((value) => ({ label: uploadLabel.set, value }));
}

/** Metadata alone: together the contents may be larger than this process may become. */
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
