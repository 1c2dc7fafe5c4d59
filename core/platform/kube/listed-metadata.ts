import type { KubernetesObject } from '../../../api/meta.ts';
import type { KubeClient } from './kube-client.ts';
import type { Resource } from './resource.ts';

interface ListedMetadata {
  readonly client: Pick<KubeClient, 'list'>;
  readonly resource: Resource;
  readonly namespace?: string;
  /** Maximum number of objects of one request. */
  readonly pageSize: number;
  readonly signal: AbortSignal;
}

/** The metadata of all live objects of a kind; asks for a page when the caller takes it. */
export async function* listedMetadata({
  client,
  resource,
  pageSize: limit,
  ...query
}: ListedMetadata): AsyncGenerator<KubernetesObject> {
  let next: string | undefined;
  do {
    const page = { limit, ...(next === undefined ? {} : { continue: next }) };
    const { items, metadata } = await client.list(resource, {
      ...query,
      ...page,
      metadataOnly: true,
    });
    yield* items;
    next = metadata.continue;
  } while (next !== undefined && next !== '');
}
