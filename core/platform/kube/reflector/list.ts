import { stringifyJson } from '../../../../api/json.ts';
import type { KubernetesObject } from '../../../../api/meta.ts';
import type { Clock } from '../../clock.ts';
import { ApiError, isExpired } from '../api-error.ts';
import type { KubeClient, ListOptions, WatchEvent } from '../kube-client.ts';
import type { Resource } from '../resource.ts';

interface ListAllOptions<T> extends Omit<ListOptions, 'continue' | 'limit'> {
  readonly pageSize?: number | undefined;
  /** Runs page by page, so that dropped fields of the whole list are never in memory together. */
  readonly transform: (object: KubernetesObject) => T;
}

interface FullList<T> {
  readonly resourceVersion: string;
  readonly items: readonly T[];
}

const defaultPageSize = 500;
/** Objects in the first page, before their size is known; etcd stores objects of up to 1.5 MiB. */
const firstPageSize = 20;
/**
 * Target bytes of a page, estimated from the size of earlier objects: anybody may write large ones.
 */
const pageBytes = 8 * 1024 * 1024;

/** Every object of a list, page by page; in one piece when pages expire meanwhile. */
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

/** Annotation of the bookmark after the last initial object of a watch. */
const endAnnotation = 'k8s.io/initial-events-end';

/** Maximum milliseconds between two objects of a streamed list. */
const longestSilence = 10_000;

/** The server ignores or refuses the parameter: use lists. */
class StreamingUnsupported extends Error {}

/** Collects the initial events of a watch, when the server streams its list (KEP-3157). */
export class InitialEvents<T> {
  readonly #transform: (object: KubernetesObject) => T;
  readonly #items = new Map<string, T>();
  #ended = false;

  constructor(transform: (object: KubernetesObject) => T) {
    this.#transform = transform;
  }

  /** Aborts a watch without any event for a while: its server does not support initial events. */
  async expect(watch: AbortController, clock: Clock): Promise<void> {
    while (!watch.signal.aborted && !this.#ended) {
      const before = this.#items.size;
      await clock.sleep(longestSilence, watch.signal).catch(() => undefined);
      if (this.#ended || this.#items.size > before) continue;
      watch.abort(new StreamingUnsupported('the server sends no initial events'));
    }
  }

  /**
   * Takes one event; returns the whole list at the last one.
   * @throws StreamingUnsupported at an ordinary bookmark.
   */
  take({ type, object }: WatchEvent): readonly T[] | undefined {
    const { namespace = '', name = '', annotations } = object.metadata;
    const key = `${namespace}/${name}`;
    if (type === 'ADDED' || type === 'MODIFIED') this.#items.set(key, this.#transform(object));
    if (type === 'DELETED') this.#items.delete(key);
    if (type !== 'BOOKMARK') return undefined;
    this.#ended = annotations?.[endAnnotation] === 'true';
    if (this.#ended) return [...this.#items.values()];
    throw new StreamingUnsupported('the server sends no initial events');
  }
}

/** True for the refusal of a server that does not support or allow initial events. */
export function refusesInitialEvents(error: unknown): boolean {
  if (error instanceof StreamingUnsupported) return true;
  return error instanceof ApiError && (error.code === 400 || error.code === 422);
}
