import type { GitHttpRequest, GitHttpResponse } from 'isomorphic-git';
import { type Dispatcher, request } from 'undici';
import { TerminalError } from '../../errors.ts';
import {
  type AddressPolicy,
  createDispatcher,
  type ProxyConfig,
  requestError,
} from '../../platform/net/index.ts';
import type { HTTPCredentials } from './credentials.ts';
import type { GitTransport } from './repository.ts';
import { unlessRefused } from './server-refusal.ts';

interface HTTPTransportOptions extends HTTPCredentials {
  readonly proxy?: ProxyConfig | undefined;
  readonly addresses?: AddressPolicy | undefined;
  readonly insecureSkipVerify: boolean;
  /** Maximum bytes of all responses together. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

interface SentRequest {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body: Buffer | undefined;
}

const maxRedirects = 5;
const timeouts = { connectTimeout: 10_000, idleTimeout: 30_000 } as const;

/** isomorphic-git's HTTP, with a signal, a limit on bytes, and credentials for one origin only. */
export class HTTPTransport implements GitTransport {
  readonly url: string;
  readonly protocolVersion = 2;
  readonly #options: HTTPTransportOptions;
  readonly #dispatcher: Dispatcher;
  readonly #bytes: AnswerBytes;
  /** Credentials are sent only to the repository's own origin, even after a redirect. */
  readonly #origin: string;
  /** Target of the first redirect; later requests use it at once, as git's do. */
  #redirect: { readonly from: string; readonly to: string } | undefined;

  constructor(repository: URL, options: HTTPTransportOptions) {
    const url = new URL(repository);
    url.username = '';
    url.password = '';
    this.url = url.href;
    this.#origin = url.origin;
    this.#options = options;
    this.#dispatcher = createDispatcher({ ...options, ...timeouts });
    this.#bytes = new AnswerBytes(options.maxBytes);
  }

  get failure(): Error | undefined {
    return this.#bytes.failure;
  }

  request = async (wanted: GitHttpRequest): Promise<GitHttpResponse> => {
    try {
      return await this.#follow(wanted);
    } catch (error) {
      throw this.#bytes.fail(error);
    }
  };

  async #follow(wanted: GitHttpRequest): Promise<GitHttpResponse> {
    const body = await collect(wanted.body);
    const method = wanted.method === 'POST' ? 'POST' : 'GET';
    let url = new URL(this.#redirected(wanted.url));
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      const response = await this.#send(url, { method, headers: wanted.headers ?? {}, body });
      const location = response.headers['location'];
      if (!keepsMethod(response.statusCode) || typeof location !== 'string') {
        return {
          url: url.href,
          method,
          statusCode: response.statusCode,
          statusMessage: String(response.statusCode),
          headers: flatHeaders(response.headers),
          body: this.#answer(response.body, { method, url, body }),
        };
      }
      await response.body.dump();
      const next = redirectTarget(url, location, this.#shown(url));
      this.#remember(wanted.url, next.href);
      url = next;
    }
    throw new Error(`${method} "${wanted.url}": more than ${maxRedirects} redirects`);
  }

  /** A server that refuses to send a commit may send it another way: that is no failure yet. */
  #answer(
    answer: AsyncIterable<Uint8Array>,
    { method, url, body }: Pick<SentRequest, 'method' | 'body'> & { readonly url: URL },
  ): AsyncIterableIterator<Uint8Array> {
    const bytes = this.#bytes.bounded(answer, (error) => this.#problem(method, url, error));
    const isList = body === undefined || body.includes('command=ls-refs');
    return isList ? unlessRefused(bytes, (refusal) => this.#bytes.fail(refusal)) : bytes;
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  async #send(url: URL, wanted: SentRequest): ReturnType<typeof request> {
    const { signal } = this.#options;
    try {
      return await request(url, {
        method: wanted.method,
        headers: { ...wanted.headers, ...this.#authorization(url) },
        body: wanted.body ?? null,
        dispatcher: this.#dispatcher,
        signal,
      });
    } catch (error) {
      throw this.#problem(wanted.method, url, error);
    }
  }

  #problem(method: 'GET' | 'POST', url: URL, error: unknown): unknown {
    const { signal } = this.#options;
    return signal.aborted ? signal.reason : requestError(method, this.#shown(url), error);
  }

  /** Redirect targets are often signed: their query is a secret, and differs each time. */
  #shown(url: URL): URL {
    return url.origin === this.#origin ? url : new URL(url.pathname, url.origin);
  }

  #authorization(url: URL): Record<string, string> {
    const { basic } = this.#options;
    if (basic === undefined || url.origin !== this.#origin) return {};
    const token = Buffer.from(`${basic.username}:${basic.password}`).toString('base64');
    return { authorization: `Basic ${token}` };
  }

  #redirected(url: string): string {
    const { from, to } = this.#redirect ?? {};
    return from !== undefined && to !== undefined && url.startsWith(from)
      ? to + url.slice(from.length)
      : url;
  }

  /** Remembers the repository's new address from the redirect of its info/refs. */
  #remember(wanted: string, location: string): void {
    const suffix = '/info/refs?service=git-upload-pack';
    if (!wanted.endsWith(suffix) || !location.endsWith(suffix)) return;
    this.#redirect = {
      from: wanted.slice(0, -suffix.length),
      to: location.slice(0, -suffix.length),
    };
  }
}

/** Redirects that keep the method of a request: not 303, which turns a POST into a GET. */
function keepsMethod(status: number): boolean {
  return status === 301 || status === 302 || status === 307 || status === 308;
}

function redirectTarget(from: URL, location: string, shown: URL): URL {
  const to = URL.parse(location, from.href);
  if (to === null) throw new Error(`GET "${shown.href}": redirects to an invalid address`);
  const downgrade = from.protocol === 'https:' && to.protocol !== 'https:';
  if (downgrade || !['http:', 'https:'].includes(to.protocol)) {
    const scheme = from.protocol.slice(0, -1);
    throw new Error(
      `GET "${shown.href}": refusing the redirect from ${scheme} to ${to.protocol}//`,
    );
  }
  return to;
}

function flatHeaders(
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

async function collect(
  body: GitHttpRequest['body'] | readonly Uint8Array[],
): Promise<Buffer | undefined> {
  if (body === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Limits the bytes of all answers of a server together, and remembers why one ended early. */
export class AnswerBytes {
  readonly #max: number;
  #count = 0;
  #failure: Error | undefined;

  constructor(max: number) {
    this.#max = max;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Remembers the first failure, and returns it. */
  fail(error: unknown): Error {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
    return this.#failure;
  }

  /** The same bytes; `explain` rewords the errors of the stream. */
  async *bounded(
    body: AsyncIterable<Uint8Array>,
    explain: (error: unknown) => unknown,
  ): AsyncIterableIterator<Uint8Array> {
    try {
      for await (const chunk of body) {
        this.#count += chunk.byteLength;
        if (this.#count > this.#max) throw tooLarge(this.#max);
        yield chunk;
      }
    } catch (error) {
      throw this.fail(error instanceof TerminalError ? error : explain(error));
    }
  }
}

function tooLarge(limit: number): TerminalError {
  return new TerminalError(
    `the repository sends more than the limit of ${limit} bytes (--max-content-bytes)`,
  );
}
