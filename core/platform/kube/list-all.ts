import { stringifyJson } from '../../../api/json.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { ApiError } from './api-error.ts';
import type { KubeClient, ListOptions } from './kube-client.ts';
import type { Resource } from './resource.ts';

export interface ListAllOptions<T> extends Omit<ListOptions, 'continue' | 'limit'> {
  readonly pageSize?: number | undefined;
  /** Runs page by page, so that what it drops is never held for the whole list. */
  readonly transform: (object: KubernetesObject) => T;
}

export interface FullList<T> {
  readonly resourceVersion: string;
  readonly items: readonly T[];
}

const defaultPageSize = 500;
/** Before anything is known of the objects' size; etcd holds some of 1.5 MiB. */
const firstPageSize = 20;
/** What a page is to have at most, by the size of the objects before it: anybody may write large ones. */
const pageBytes = 8 * 1024 * 1024;

/** Every object of a list, page by page; in one piece where the pages expire on the way. */
export async function listAll<T>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
  { pageSize = defaultPageSize, ...options }: ListAllOptions<T>,
): Promise<FullList<T>> {
  try {
    return await listPages(client, resource, { ...options, limit: pageSize });
  } catch (error) {
    if (!isExpired(error)) throw error;
    return await listPages(client, resource, options);
  }
}

/** The server no longer has the resourceVersion or page that was asked for. */
export function isExpired(error: unknown): boolean {
  return error instanceof ApiError && error.code === 410;
}

async function listPages<T>(
  client: Pick<KubeClient, 'list'>,
  resource: Resource,
  { transform, ...options }: ListOptions & Pick<ListAllOptions<T>, 'transform'>,
): Promise<FullList<T>> {
  const items: T[] = [];
  const { limit } = options;
  let next: ListOptions =
    limit === undefined ? options : { ...options, limit: Math.min(limit, firstPageSize) };
  for (;;) {
    const page = await client.list(resource, next);
    for (const item of page.items) items.push(transform(item));
    const { resourceVersion, continue: token } = page.metadata;
    if (!token) return { resourceVersion, items };
    const fitting = limit === undefined ? {} : { limit: Math.min(limit, fittingSize(page.items)) };
    next = { ...options, ...fitting, continue: token };
  }
}

function fittingSize(items: readonly KubernetesObject[]): number {
  const sample = items.slice(0, 10);
  const bytes = stringifyJson(sample).length / Math.max(1, sample.length);
  return Math.max(1, Math.floor(pageBytes / bytes));
}
