import { Readable } from 'node:stream';
import { type Dispatcher, request } from 'undici';
import { TerminalError } from '../../errors.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type AddressPolicy,
  createDispatcher,
  createProxyChooser,
  type Failure,
  isRedirect,
  type ProxyChooser,
  type ProxyConfig,
  RetryPolicy,
} from '../../platform/net/index.ts';
import type { RegistryCertificates } from '../configuration/registry-certificates.ts';
import {
  connectionError,
  DeniedError,
  isConnectionLost,
  MismatchError,
  UnavailableError,
} from '../registry-errors.ts';
import { type HostOptions, HostRules } from './host-rules.ts';
import { discard, statusText, type TransportResponse } from './response.ts';

export interface TransportOptions extends HostOptions {
  /** PEM certificates of CAs to trust in addition to the system's. */
  readonly caCertificates: readonly string[];
  readonly hostCertificates?: RegistryCertificates | undefined;
  readonly proxy?: ProxyConfig | undefined;
  readonly addresses?: AddressPolicy | undefined;
  readonly userAgent: string;
  readonly clock: Clock;
}

export interface TransportRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH';
  readonly headers?: Readonly<Record<string, string>>;
  /** A function opens a new stream for each server that receives the request. */
  readonly body?: string | Uint8Array | (() => AsyncIterable<Uint8Array> | Iterable<Uint8Array>);
  /** Whether the body proves who asks: no redirect takes it to another origin. */
  readonly hasCredentials?: boolean;
  /** Not repeated after a lost connection, because the server may have received a part of it. */
  readonly once?: boolean;
  /** Maximum milliseconds until the server answers (default 30 000). */
  readonly answerTimeout?: number;
  readonly signal: AbortSignal;
}

const bodyErrors = [TerminalError, UnavailableError, MismatchError] as const;

const maxRedirects = 5;
const connectTimeout = 10_000;
const idleTimeout = 30_000;

/**
 * HTTP for registries: sends no credentials to other hosts after redirects, uses plain HTTP only
 * where allowed, and repeats temporary failures a few times.
 */
export class Transport {
  readonly #options: TransportOptions;
  readonly #hosts: HostRules;
  readonly #proxyFor: ProxyChooser;
  /** By host, for hosts with settings of their own; the empty name is for all others. */
  readonly #dispatchers = new Map<string, Dispatcher>();

  constructor(options: TransportOptions) {
    this.#options = options;
    this.#hosts = new HostRules(options);
    this.#proxyFor = createProxyChooser(options.proxy);
  }

  /** Base URL of a registry's host, with the scheme to use. */
  async baseURL(host: string, signal: AbortSignal): Promise<URL> {
    const plain = new URL(`http://${host}`);
    if (this.#hosts.isPlain(host.toLowerCase())) return plain;
    const encrypted = new URL(`https://${host}`);
    if (!this.#hosts.isUnchecked(host.toLowerCase())) return encrypted;
    try {
      await discard(await this.#request(new URL('/v2/', encrypted), { signal }, false));
      return encrypted;
    } catch {
      signal.throwIfAborted();
      return plain;
    }
  }

  /**
   * Returns any answer but 429 and 5xx; the caller must read or dump its body.
   * @throws UnavailableError if the server does not answer, or stays too busy
   */
  async send(url: URL, wanted: TransportRequest): Promise<TransportResponse> {
    const retries = new RetryPolicy(this.#options.clock);
    for (;;) {
      const outcome = await this.#attempt(url, wanted);
      if ('status' in outcome) return outcome;
      if (wanted.once === true && !outcome.isBusy) throw outcome.error;
      await retries.wait(outcome, wanted.signal);
    }
  }

  async #attempt(url: URL, wanted: TransportRequest): Promise<TransportResponse | Failure> {
    try {
      const response = await this.#follow(url, wanted);
      if (response.status !== 429 && response.status < 500) return response;
      await discard(response);
      const { host } = response.url;
      const error = new UnavailableError(
        `registry ${host} answered ${statusText(response.status)}`,
      );
      const isBusy = response.status === 429;
      return { error, isBusy, retryAfter: response.headers['retry-after'] };
    } catch (error) {
      wanted.signal.throwIfAborted();
      if (error instanceof UnavailableError || !isConnectionLost(error)) throw error;
      return { error: connectionError(this.#nameOf(url), error), isBusy: false };
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
      const next = URL.parse(location, url.href);
      if (next === null) {
        throw new UnavailableError(
          `registry ${url.host} redirects to an address that is not a URL: ${JSON.stringify(location.slice(0, 200))}`,
        );
      }
      if (wanted.hasCredentials === true && next.origin !== start.origin) {
        throw new DeniedError(
          `server ${start.host} redirects credentials to ${next.host}, which gets none`,
        );
      }
      url = next;
    }
    throw new UnavailableError(`registry ${start.host} redirects more than ${maxRedirects} times`);
  }

  async #request(url: URL, wanted: TransportRequest, trusted: boolean): Promise<TransportResponse> {
    const { authorization, ...headers } = wanted.headers ?? {};
    const own = trusted && authorization !== undefined ? { authorization } : {};
    try {
      const { statusCode, body, ...response } = await request(url, {
        method: wanted.method ?? 'GET',
        headers: { 'user-agent': this.#options.userAgent, ...headers, ...own },
        body: bodyOf(wanted),
        ...(wanted.answerTimeout === undefined ? {} : { headersTimeout: wanted.answerTimeout }),
        dispatcher: this.#dispatcher(url),
        signal: wanted.signal,
      });
      return { status: statusCode, headers: response.headers, body, url };
    } catch (error) {
      wanted.signal.throwIfAborted();
      // The body to send has failed, not the connection.
      if (bodyErrors.some((each) => error instanceof each)) throw error;
      throw isConnectionLost(error) ? error : connectionError(this.#nameOf(url), error);
    }
  }

  #checkScheme({ protocol, host }: URL): void {
    const isPlainAllowed = this.#hosts.isPlain(host) || this.#hosts.isUnchecked(host);
    if (protocol === 'https:' || (protocol === 'http:' && isPlainAllowed)) return;
    throw new UnavailableError(
      `registry sends us to ${protocol}//${host}, which is not listed as an insecure registry`,
    );
  }

  /** Host with its proxy, for messages about connections. */
  #nameOf(url: URL): string {
    const proxy = this.#proxyFor(url);
    return proxy === undefined ? url.host : `${url.host} through the proxy ${proxy.host}`;
  }

  #dispatcher({ host }: URL): Dispatcher {
    const { hostCertificates, caCertificates, proxy, addresses } = this.#options;
    const own = hostCertificates?.get(host);
    const insecureSkipVerify = this.#hosts.isUnchecked(host);
    // Users may skip the check of certificates, but not choose an address by that.
    const isChosen = own !== undefined || this.#hosts.isChosen(host);
    const key = isChosen || insecureSkipVerify ? host : '';
    const known = this.#dispatchers.get(key);
    if (known !== undefined) return known;
    const dispatcher = createDispatcher({
      proxy,
      addresses: isChosen ? undefined : addresses,
      caCertificates: [...caCertificates, ...(own?.caCertificates ?? [])],
      clientCertificate: own?.clientCertificate,
      insecureSkipVerify,
      connectTimeout,
      idleTimeout,
    });
    this.#dispatchers.set(key, dispatcher);
    return dispatcher;
  }
}

function bodyOf({ body }: TransportRequest): string | Uint8Array | Readable | null {
  if (typeof body !== 'function') return body ?? null;
  return Readable.from(body(), { objectMode: false });
}
