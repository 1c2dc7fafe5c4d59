import { apiVersionOf } from '../../../api/gvk.ts';
import { parseJson } from '../../../api/json.ts';
import { errorMessage } from '../../errors.ts';
import { apiErrorOf } from './api-error.ts';
import { readLines, readText } from './body.ts';
import type { WatchEvent, WatchOptions } from './kube-client.ts';
import { acceptMetadata, collectionPath, queryString } from './object-url.ts';
import type { Resource } from './resource.ts';
import type { HttpTransport } from './transport.ts';

const headTimeout = 30_000;
/** Milliseconds by which a server may exceed a watch's time before the watch counts as dead. */
const grace = 30_000;

/** The events of one watch request, to its end. */
export async function* watchEvents(
  transport: HttpTransport,
  resource: Resource,
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const { namespace, signal, timeoutSeconds, metadataOnly, onOpen, ...selection } = options;
  const query = queryString({
    ...selection,
    ...(selection.sendInitialEvents === true && { resourceVersionMatch: 'NotOlderThan' }),
    watch: true,
    allowWatchBookmarks: true,
    timeoutSeconds,
  });
  const path = collectionPath(resource, namespace) + query;
  const dead = new AbortController();
  const timer = setTimeout(
    () => dead.abort(new Error(`the watch of ${resource.plural} outlived its time`)),
    timeoutSeconds * 1000 + grace,
  );
  try {
    const request = {
      method: 'GET',
      path,
      accept: metadataOnly === true ? acceptMetadata.watch : undefined,
      signal: AbortSignal.any([signal, dead.signal]),
    } as const;
    const { statusCode, headers, body } = await transport.stream(request, headTimeout);
    if (statusCode >= 300) {
      const text = await readText(body, headers['content-encoding']?.toString());
      throw apiErrorOf({ status: statusCode, text });
    }
    onOpen?.();
    for await (const event of eventsIn(body, resource)) {
      yield metadataOnly === true ? ofKind(event, resource) : event;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** Metadata-only objects carry the kind of that format instead of their own. */
function ofKind(event: WatchEvent, resource: Resource): WatchEvent {
  if (event.type === 'ERROR') return event;
  const { kind } = resource;
  return { ...event, object: { ...event.object, apiVersion: apiVersionOf(resource), kind } };
}

async function* eventsIn(
  body: AsyncIterable<Uint8Array>,
  { plural }: Resource,
): AsyncGenerator<WatchEvent> {
  try {
    for await (const line of readLines(body)) yield parseJson(line) as unknown as WatchEvent;
  } catch (error) {
    throw new Error(`the watch of ${plural} broke: ${errorMessage(error)}`, { cause: error });
  }
}
