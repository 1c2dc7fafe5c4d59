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

/** A Secret that holds one revision of a deployment that RukPak installed. */
export interface ReleaseSecret {
  readonly name: string;
  readonly uid: string;
  readonly deployment: string;
  readonly revision: number;
  /** True for a finished revision without a later finished one. */
  readonly deployed: boolean;
}

interface ReleaseQuery {
  readonly namespace: string;
  /** Name of the deployment (default: all of them). */
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

// An empty list has `items: null`.
const listSchema = z.object({ items: z.array(itemSchema).nullable() });

/**
 * RukPak's release Secrets, the newest revision first. Requests metadata only: the contents would
 * be megabytes. Skips releases without a BundleDeployment as controller, because RukPak did not
 * make them.
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
