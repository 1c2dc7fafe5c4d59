import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, type Dispatcher, request } from 'undici';
import type { Clock } from '../../clock.ts';
import { connectionError, isConnectionLost, UnavailableError } from './registry-errors.ts';

export interface TransportOptions {
  /** Hosts (`host[:port]`) that are spoken to over plain HTTP, and no others. */
  readonly insecureRegistries: readonly string[];
  /** PEM certificates of authorities to trust besides the system's. */
  readonly caCertificates: readonly string[];
  readonly userAgent: string;
  readonly clock: Clock;
}

export interface TransportRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Dispatcher.ResponseData['body'];
  /** Where it came from in the end, after redirects. */
  readonly url: URL;
}

const maxRedirects = 5;
const maxAttempts = 3;
const maxRetryAfter = 5_000;
const firstRetryDelay = 200;
const connectTimeout = 10_000;
const idleTimeout = 30_000;

/**
 * HTTP as registries need it: redirects without handing credentials to other hosts, plain HTTP only
 * where allowed, and a few quick retries of what passes by itself.
 */
export class Transport {
  readonly #options: TransportOptions;
  /** As listed, and as URLs write them: without the port where it is HTTP's own. */
  readonly #insecure: ReadonlySet<string>;
  #agent: Agent | undefined;

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#insecure = new Set(options.insecureRegistries.flatMap(hostNames));
  }

  /** The address of a registry's host, by the scheme that may be spoken with it. */
  baseURL(host: string): URL {
    return new URL(`${this.#insecure.has(host.toLowerCase()) ? 'http' : 'https'}://${host}`);
  }

  /**
   * Any answer but 429 and 5xx, whose body the caller must read or dump.
   * @throws UnavailableError where the server does not answer, or keeps being too busy
   */
  async send(url: URL, wanted: TransportRequest): Promise<TransportResponse> {
    for (let attempt = 1; ; attempt += 1) {
      const outcome = await this.#attempt(url, wanted);
      if ('status' in outcome) return outcome;
      if (attempt === maxAttempts || outcome.retryAfter > maxRetryAfter) throw outcome.error;
      const delay = Math.max(outcome.retryAfter, firstRetryDelay * 2 ** (attempt - 1));
      await this.#options.clock.sleep(delay, wanted.signal);
    }
  }

  async #attempt(
    url: URL,
    wanted: TransportRequest,
  ): Promise<TransportResponse | { readonly error: Error; readonly retryAfter: number }> {
    try {
      const response = await this.#follow(url, wanted);
      if (response.status !== 429 && response.status < 500) return response;
      await discard(response);
      const { host } = response.url;
      const error = new UnavailableError(
        `registry ${host} answered ${statusText(response.status)}`,
      );
      return { error, retryAfter: this.#retryAfter(response) };
    } catch (error) {
      wanted.signal.throwIfAborted();
      if (error instanceof UnavailableError || !isConnectionLost(error)) throw error;
      return { error: connectionError(url.host, error), retryAfter: 0 };
    }
  }

  async #follow(start: URL, wanted: TransportRequest): Promise<TransportResponse> {
    let url = start;
    for (let hop = 0; hop <= maxRedirects; hop += 1) {
      this.#checkScheme(url);
      const response = await this.#request(url, wanted, url.origin === start.origin);
      const { location } = response.headers;
      if (!isRedirect(response.status) || typeof location !== 'string') return response;
      await discard(response);
      if (!URL.canParse(location, url.href)) {
        throw new UnavailableError(`registry ${url.host} redirects to an address that is none`);
      }
      url = new URL(location, url);
    }
    throw new UnavailableError(`registry ${start.host} redirects more than ${maxRedirects} times`);
  }

  async #request(url: URL, wanted: TransportRequest, trusted: boolean): Promise<TransportResponse> {
    const { authorization, ...headers } = wanted.headers ?? {};
    const own = trusted && authorization !== undefined ? { authorization } : {};
    this.#agent ??= this.#createAgent();
    try {
      const { statusCode, body, ...response } = await request(url, {
        method: wanted.method ?? 'GET',
        headers: { 'user-agent': this.#options.userAgent, ...headers, ...own },
        body: wanted.body ?? null,
        dispatcher: this.#agent,
        signal: wanted.signal,
      });
      return { status: statusCode, headers: response.headers, body, url };
    } catch (error) {
      wanted.signal.throwIfAborted();
      throw isConnectionLost(error) ? error : connectionError(url.host, error);
    }
  }

  #checkScheme({ protocol, host }: URL): void {
    if (protocol === 'https:' || (protocol === 'http:' && this.#insecure.has(host))) return;
    throw new UnavailableError(
      `registry sends us to ${protocol}//${host}, which is not listed as an insecure registry`,
    );
  }

  /** Milliseconds; 0 where the server does not say. */
  #retryAfter({ headers }: TransportResponse): number {
    const value = headers['retry-after'];
    if (typeof value !== 'string') return 0;
    if (/^[0-9]{1,9}$/.test(value)) return Number(value) * 1000;
    const date = Date.parse(value);
    return Number.isNaN(date) ? 0 : Math.max(0, date - this.#options.clock.now());
  }

  #createAgent(): Agent {
    const certificates = [
      ...getCACertificates('default'),
      ...getCACertificates('system'),
      ...this.#options.caCertificates,
    ];
    return new Agent({
      connect: {
        // Made once: reading some hundred certificates for every connection takes its time.
        secureContext: createSecureContext({ ca: [...new Set(certificates)] }),
        timeout: connectTimeout,
      },
      headersTimeout: idleTimeout,
      bodyTimeout: idleTimeout,
    });
  }
}

function hostNames(listed: string): string[] {
  const host = listed.toLowerCase();
  const url = URL.canParse(`http://${host}`) ? new URL(`http://${host}`) : undefined;
  if (url === undefined || host === '' || /[/@?#]/.test(host)) {
    throw new Error(`insecure registry "${listed}" is not a host with an optional port`);
  }
  return [host, url.host];
}

/** Gives up on an answer's body, keeping the connection where little of it is left. */
export async function discard({ body }: TransportResponse): Promise<void> {
  await body.dump({ limit: 65_536 }).catch(() => undefined);
}

const statusTexts: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

export function statusText(status: number): string {
  const text = statusTexts[status];
  return text === undefined ? `status ${status}` : `${status} ${text}`;
}

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}
