import { z } from 'zod';
import { record } from '../../../api/record.ts';
import {
  acceptMetadata,
  collectionPath,
  type KubeClient,
  queryString,
  secretResource,
} from '../../platform/kube/index.ts';
import { controllerOf, isDeployment } from '../objects/owner-marks.ts';

/** A Secret that holds one revision of what RukPak installed for a deployment. */
export interface ReleaseSecret {
  readonly name: string;
  readonly uid: string;
  readonly deployment: string;
  readonly revision: number;
  /** The revision was finished, and none was since. */
  readonly deployed: boolean;
}

interface ReleaseQuery {
  readonly namespace: string;
  /** Default: all of them. */
  readonly deployment?: string;
  readonly signal: AbortSignal;
}

const itemSchema = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    labels: record(z.string()).default({}),
    ownerReferences: z
      .array(
        z.object({
          apiVersion: z.string(),
          kind: z.string(),
          name: z.string(),
          uid: z.string(),
          controller: z.boolean().default(false),
        }),
      )
      .default([]),
  }),
});

// An empty list has null for its items.
const listSchema = z.object({ items: z.array(itemSchema).nullable() });

/**
 * RukPak's release Secrets, the newest revision first. Their contents would be megabytes: only
 * metadata is asked for. Releases that no BundleDeployment controls are somebody else's.
 */
export async function releaseSecrets(
  client: Pick<KubeClient, 'request'>,
  { namespace, deployment, signal }: ReleaseQuery,
): Promise<readonly ReleaseSecret[]> {
  const name = deployment === undefined ? '' : `,name=${deployment}`;
  const query = { labelSelector: `owner=helm${name}`, fieldSelector: 'type=helm.sh/release.v1' };
  const answer = await client.request({
    method: 'GET',
    path: collectionPath(secretResource, namespace) + queryString(query),
    accept: acceptMetadata.list,
    signal,
  });
  const { items } = listSchema.parse(answer);
  return (items ?? []).flatMap(releaseSecret).toSorted((a, b) => b.revision - a.revision);
}

function releaseSecret({ metadata }: z.infer<typeof itemSchema>): ReleaseSecret[] {
  const { name, uid, labels } = metadata;
  const deployment = labels['name'] ?? '';
  const controller = controllerOf({ apiVersion: 'v1', kind: 'Secret', metadata });
  if (controller === undefined || !isDeployment(controller, deployment)) return [];
  const revision = Number(labels['version']) || 0;
  return [{ name, uid, deployment, revision, deployed: labels['status'] === 'deployed' }];
}
