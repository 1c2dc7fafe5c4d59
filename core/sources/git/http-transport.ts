import type { GitHttpRequest, GitHttpResponse, HttpClient } from 'isomorphic-git';
import { Agent, request } from 'undici';
import { TerminalError } from '../../errors.ts';
import { requestError } from './request-error.ts';

export interface BasicAuth {
  readonly username: string;
  readonly password: string;
}

export interface HTTPTransportOptions {
  readonly auth?: BasicAuth | undefined;
  readonly insecureSkipVerify: boolean;
  /** Bytes that all responses together may have. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

const maxRedirects = 5;

/** isomorphic-git's HTTP, with a signal, a bound on bytes, and credentials for one origin only. */
export class HTTPTransport implements HttpClient {
  readonly #options: HTTPTransportOptions;
  readonly #agent: Agent;
  /** Credentials are for the repository's own origin, wherever it redirects to. */
  readonly #origin: string;
  /** Where the first request was redirected to; the next ones go there at once, as git's do. */
  #redirect: { readonly from: string; readonly to: string } | undefined;
  #bytes = 0;
  #failure: Error | undefined;

  constructor(repository: URL, options: HTTPTransportOptions) {
    this.#origin = repository.origin;
    this.#options = options;
    this.#agent = new Agent({ connect: { rejectUnauthorized: !options.insecureSkipVerify } });
  }

  /** What ended a response early: isomorphic-git takes a failed stream for a finished one. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  request = async (wanted: GitHttpRequest): Promise<GitHttpResponse> => {
    const body = await collect(wanted.body);
    const method = wanted.method === 'POST' ? 'POST' : 'GET';
    let url = new URL(this.#redirected(wanted.url));
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      const response = await this.#send(url, { method, headers: wanted.headers ?? {}, body });
      const location = response.headers['location'];
      if (!isRedirect(response.statusCode) || typeof location !== 'string') {
        return {
          url: url.href,
          method,
          statusCode: response.statusCode,
          statusMessage: String(response.statusCode),
          headers: flatHeaders(response.headers),
          body: this.#counted(response.body),
        };
      }
      await response.body.dump();
      const next = new URL(location, url);
      checkRedirect(url, next);
      this.#remember(wanted.url, next.href);
      url = next;
    }
    throw new Error(`GET "${wanted.url}": more than ${maxRedirects} redirects`);
  };

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #send(
    url: URL,
    wanted: { method: 'GET' | 'POST'; headers: Record<string, string>; body: Buffer | undefined },
  ): ReturnType<typeof request> {
    const { signal } = this.#options;
    try {
      return await request(url, {
        method: wanted.method,
        headers: { ...wanted.headers, ...this.#authorization(url) },
        body: wanted.body ?? null,
        dispatcher: this.#agent,
        signal,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw requestError(wanted.method, url, error);
    }
  }

  #authorization(url: URL): Record<string, string> {
    const { auth } = this.#options;
    if (auth === undefined || url.origin !== this.#origin) return {};
    const token = Buffer.from(`${auth.username}:${auth.password}`).toString('base64');
    return { authorization: `Basic ${token}` };
  }

  #redirected(url: string): string {
    const { from, to } = this.#redirect ?? {};
    return from !== undefined && to !== undefined && url.startsWith(from)
      ? to + url.slice(from.length)
      : url;
  }

  /** Learns the repository's new address from where its info/refs went. */
  #remember(wanted: string, location: string): void {
    const suffix = '/info/refs?service=git-upload-pack';
    if (!wanted.endsWith(suffix) || !location.endsWith(suffix)) return;
    this.#redirect = {
      from: wanted.slice(0, -suffix.length),
      to: location.slice(0, -suffix.length),
    };
  }

  async *#counted(body: AsyncIterable<Uint8Array>): AsyncIterableIterator<Uint8Array> {
    try {
      for await (const chunk of body) {
        this.#bytes += chunk.byteLength;
        if (this.#bytes > this.#options.maxBytes) throw tooLarge(this.#options.maxBytes);
        yield chunk;
      }
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  }
}

function tooLarge(limit: number): TerminalError {
  return new TerminalError(
    `the repository sends more than the limit of ${limit} bytes (--max-content-bytes)`,
  );
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 307 || status === 308;
}

function checkRedirect(from: URL, to: URL): void {
  const downgrade = from.protocol === 'https:' && to.protocol !== 'https:';
  if (downgrade || !['http:', 'https:'].includes(to.protocol)) {
    throw new Error(`GET "${from.href}": refusing the redirect from https to ${to.protocol}//`);
  }
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
