import { isDeepStrictEqual } from 'node:util';
import type { Dispatcher } from 'undici';
import { errorMessage } from '../../errors.ts';
import { abortable, type Clock, withDeadline } from '../clock.ts';
import { FairSemaphore } from '../runtime/queue/semaphore.ts';
import { readText } from './body.ts';
import type { CredentialSource, TlsOptions } from './config/credentials.ts';
import {
  type Connections,
  connectionsOfCreators,
  destroyConnections,
  openConnections,
  retireConnections,
} from './connections.ts';

interface TransportOptions {
  /** Base URL of the API server, with an optional path prefix. */
  readonly server: string;
  readonly proxyUrl?: string | undefined;
  readonly userAgent: string;
  readonly credentials: Pick<CredentialSource, 'current'>;
  readonly clock: Clock;
}

export interface HttpRequest {
  readonly method: Dispatcher.HttpMethod;
  /** With the leading slash, and with the query if any. */
  readonly path: string;
  readonly body?: string | undefined;
  readonly contentType?: string | undefined;
  readonly accept?: string | undefined;
  /** Additional headers; a list becomes one header per item. */
  readonly headers?: Readonly<Record<string, string | string[]>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Never waits for the connection of another request (default: false). */
  readonly isReserved?: boolean | undefined;
  /** Creators share connections (default: core itself, for which some stay free). */
  readonly creator?: string | undefined;
}

/** A complete answer of the API server. */
export interface TextResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly text: string;
}

/** Sends requests: the transport itself, or one that adds headers. */
export interface HttpTransport extends Pick<Transport, 'send' | 'stream'> {}

const maxTries = 6;

/** The API server did not answer a request: no connection, a lost one, or none in time. */
class UnreachableError extends Error {
  override readonly name = 'UnreachableError';
}

/** Whether a request failed without an answer of the API server, or caused the error that way. */
export function isUnreachable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error instanceof UnreachableError || isUnreachable(error.cause);
}

/** HTTP to one API server, with credentials, pooled connections, time limits and retries. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #origin: string;
  readonly #prefix: string;
  #connections: { readonly tls: TlsOptions; readonly open: Connections } | undefined;
  readonly #places = new FairSemaphore({ places: connectionsOfCreators });
  #closed = false;

  constructor(options: TransportOptions) {
    const url = new URL(options.server);
    this.#options = options;
    this.#origin = url.origin;
    this.#prefix = url.pathname.replace(/\/$/, '');
  }

  /**
   * The answer with any status. Retries a few times when the server asks for it. `timeout` is in
   * milliseconds per attempt.
   */
  async send(request: HttpRequest, timeout: number): Promise<TextResponse> {
    for (let tries = 1; ; tries++) {
      const response = await this.#try(request, timeout);
      const delay = tries < maxTries ? retryDelay(response) : undefined;
      if (delay === undefined) return response;
      await this.#options.clock.sleep(delay, request.signal);
    }
  }

  /** Receives the head within `timeout` milliseconds; the signal limits the body. */
  async stream(
    request: HttpRequest & { readonly signal: AbortSignal },
    timeout: number,
  ): Promise<Dispatcher.ResponseData> {
    const { signal } = request;
    return await withDeadline(this.#deadline(request, timeout), async (head) => {
      const { watches } = await this.#open();
      const abort = new AbortController();
      // The body must outlive the head's deadline, so the two signals are joined only for the head.
      const onHeadAbort = (): void => abort.abort(head.reason);
      head.addEventListener('abort', onHeadAbort, { once: true });
      try {
        return await this.#dispatch(watches, request, AbortSignal.any([signal, abort.signal]));
      } finally {
        head.removeEventListener('abort', onHeadAbort);
      }
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    if (this.#connections !== undefined) await destroyConnections(this.#connections.open);
  }

  async #try(request: HttpRequest, timeout: number): Promise<TextResponse> {
    const once = async (): Promise<TextResponse> =>
      await withDeadline(this.#deadline(request, timeout), async (signal) => {
        using _place = await this.#place(request, signal);
        const { requests, reserved } = await this.#open();
        const pool = request.isReserved === true ? reserved : requests;
        return await this.#read(await this.#dispatch(pool, request, signal));
      });
    try {
      return await once();
    } catch (error) {
      // The server may close an idle connection during the request: repeating a read does no harm.
      if (request.method !== 'GET' || !isStaleConnection(error)) throw error;
      return await once();
    }
  }

  /** A slow webhook may hold each request of a creator for half a minute. */
  async #place({ creator }: HttpRequest, signal: AbortSignal): Promise<Disposable | undefined> {
    if (creator === undefined) return undefined;
    const leave = await this.#places.take({ creator }, signal);
    return { [Symbol.dispose]: leave };
  }

  async #read({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<TextResponse> {
    try {
      const text = await readText(body, headers['content-encoding']?.toString());
      return { status: statusCode, headers, text };
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  async #dispatch(
    dispatcher: Dispatcher,
    { method, path, body, contentType, accept, headers: more }: HttpRequest,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { headers } = await this.#options.credentials.current();
    try {
      const response = dispatcher.request({
        origin: this.#origin,
        method,
        path: this.#prefix + path,
        body: body ?? null,
        signal,
        headers: {
          ...headers,
          ...more,
          accept: accept ?? 'application/json',
          'accept-encoding': 'gzip',
          'user-agent': this.#options.userAgent,
          ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
        },
      });
      // undici notices an abort only when a connection is free.
      return await abortable(response, signal);
    } catch (error) {
      throw this.#unreachable(error);
    }
  }

  async #open(): Promise<Connections> {
    const { tls } = await this.#options.credentials.current();
    if (this.#closed) throw new Error(`the connection to ${this.#origin} is closed`);
    if (this.#connections !== undefined && isDeepStrictEqual(this.#connections.tls, tls)) {
      return this.#connections.open;
    }
    if (this.#connections !== undefined) retireConnections(this.#connections.open);
    const open = openConnections(this.#origin, tls, this.#options.proxyUrl);
    this.#connections = { tls, open };
    return open;
  }

  #deadline({ method, path, signal }: HttpRequest, ms: number) {
    const timeoutError = (): Error =>
      new UnreachableError(
        `${method} ${this.#origin}${this.#prefix}${path}: no answer within ${ms / 1000} s`,
      );
    return { ms, signal, timeoutError };
  }

  #unreachable(error: unknown): Error {
    const cause = error instanceof AggregateError ? (error.errors as unknown[])[0] : error;
    const text = `cannot reach the API server ${this.#origin}: ${errorMessage(cause)}`;
    return new UnreachableError(text, { cause });
  }
}

const longestDelay = 10_000;

/** Milliseconds after which the server wants a retry; undefined when it wants none. */
function retryDelay({ status, headers }: Omit<TextResponse, 'text'>): number | undefined {
  const header = headers['retry-after'];
  const busy = status === 429 || (status >= 500 && header !== undefined);
  if (!busy) return undefined;
  const seconds = Number(header ?? 1);
  if (!Number.isFinite(seconds) || seconds < 0) return 1000;
  return Math.min(seconds * 1000, longestDelay);
}

const staleCodes: readonly unknown[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** Whether a kept-alive connection broke, rather than the server being down. */
function isStaleConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && staleCodes.includes(cause.code);
}
