import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ServableContent, ServedCatalog } from '../served-catalog.ts';
import { answer } from './answer.ts';
import { type Refusal, type RequestedCatalog, requestTarget } from './request-target.ts';

export interface CatalogHandlerOptions {
  /** The catalog that a path names; undefined if it is not served. */
  readonly find: (requested: RequestedCatalog) => ServedCatalog<ServableContent> | undefined;
  /** Called for unexpected errors of the server. */
  readonly onError: (error: unknown) => void;
  /** Called at the end of each answer. */
  readonly onAnswered?: ((status: number, seconds: number) => void) | undefined;
}

/** Answers requests for catalogs, with the paths and answers of OLM's catalogd. */
export function catalogHandler({
  find,
  onError,
  onAnswered,
}: CatalogHandlerOptions): RequestListener {
  return inTurn((request, response) => {
    const startedAt = performance.now();
    response.once('close', () =>
      onAnswered?.(response.statusCode, (performance.now() - startedAt) / 1000),
    );
    serve(request, response, find).catch((error: unknown) => {
      // A client that disconnects is not an error of the server.
      if (!response.destroyed) onError(error);
      if (response.headersSent) response.destroy();
      else refuse(response, { status: 500, text: '500 Internal Server Error' });
    });
  });
}

/**
 * Answers one request of a connection at a time: a client may send hundreds in one packet, read no
 * answer, and have the server hold a piece of a catalog and a compressor for each.
 */
function inTurn(listener: RequestListener): RequestListener {
  const answered = new WeakMap<Socket, Promise<void>>();
  return (request, response) => {
    const { socket } = request;
    const before = answered.get(socket);
    const { promise, resolve } = Promise.withResolvers<void>();
    answered.set(socket, promise);
    response.once('close', resolve);
    if (before === undefined) return listener(request, response);
    void before.then(() => {
      if (!socket.destroyed) listener(request, response);
    });
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  find: CatalogHandlerOptions['find'],
): Promise<void> {
  const target = requestTarget(request.method ?? '', request.url ?? '');
  if ('status' in target) return refuse(response, target);
  const catalog = find(target);
  if (catalog === undefined) return refuse(response, { status: 404, text: '404 Not Found' });
  await using borrowed = catalog.borrow();
  // Both are JSON lines: catalogd of OpenShift 4.15 took the type from the name of the file.
  const type = target.endpoint === 'all.json' ? 'application/json' : 'application/jsonl';
  const { query } = target;
  await answer(request, response, { content: borrowed.content.blobs, query, type });
}

function refuse(response: ServerResponse, { status, text, location }: Refusal): void {
  response.writeHead(status, {
    'Content-Type': `text/${location === undefined ? 'plain' : 'html'}; charset=utf-8`,
    ...(location === undefined ? {} : { Location: location }),
    'X-Content-Type-Options': 'nosniff',
    ...(status === 405 ? { Allow: 'GET, HEAD' } : {}),
  });
  response.end(`${text}\n`);
}
