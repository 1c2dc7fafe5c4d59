import { createHash } from 'node:crypto';
import { type Dispatcher, request } from 'undici';
import type { ByteStream } from '../content/index.ts';
import type { ContentLimits } from '../contracts/bundle-files.ts';
import { TerminalError } from '../errors.ts';
import { connectionProblem, isRedirect, requestError } from '../platform/net/index.ts';

interface DownloadOptions {
  /** Sent only to the URL's own origin, not to other origins of redirects. */
  readonly authorization: string | undefined;
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
}

/** The limit of Go's client. */
const maxRedirects = 10;
const longestPhrase = 100;

/**
 * The body of one GET, after redirects.
 * @throws Error for any answer other than status 200
 */
export async function download(
  start: URL,
  options: DownloadOptions,
): Promise<Dispatcher.ResponseData['body']> {
  let url = start;
  for (let hop = 0; hop <= maxRedirects; hop += 1) {
    const { statusCode, statusText, headers, body } = await get(url, start, options);
    if (statusCode === 200) return body;
    body.on('error', () => undefined).destroy();
    const location = headers['location'];
    if (!isRedirect(statusCode) || typeof location !== 'string') {
      throw new Error(
        `GET ${start.href}: unexpected status "${shownStatus(statusCode, statusText)}"`,
      );
    }
    url = redirectTarget(url, location, start);
  }
  throw failed(start, `Get "${start.href}": stopped after ${maxRedirects} redirects`);
}

/** A status line may have any length and content, and differ each time. */
function shownStatus(code: number, text: string): string {
  return text === '' || text.length > longestPhrase ? String(code) : `${code} ${text}`;
}

async function get(
  url: URL,
  start: URL,
  { authorization, dispatcher, signal }: DownloadOptions,
): Promise<Dispatcher.ResponseData> {
  const trusted = url.origin === start.origin && authorization !== undefined;
  try {
    return await request(url, {
      headers: { 'user-agent': 'rukpak', ...(trusted ? { authorization } : {}) },
      dispatcher,
      signal,
    });
  } catch (error) {
    signal.throwIfAborted();
    throw failed(start, requestError('GET', shown(url, start), error).message, error);
  }
}

function redirectTarget(from: URL, location: string, start: URL): URL {
  const target = URL.parse(location, from.href);
  if (target === null) throw failed(start, `Get "${start.href}": redirects to an invalid address`);
  const isHTTP = target.protocol === 'http:' || target.protocol === 'https:';
  if (!isHTTP || (from.protocol === 'https:' && target.protocol === 'http:')) {
    throw failed(
      start,
      `Get "${start.href}": refusing the redirect from ${from.protocol}// to ${target.protocol}//`,
    );
  }
  // Credentials come only from the Secret.
  target.username = '';
  target.password = '';
  return target;
}

/** Redirect targets are often signed: their query is a secret, and differs each time. */
function shown(url: URL, start: URL): URL {
  return url.href === start.href ? url : new URL(url.pathname, url.origin);
}

function failed(start: URL, cause: string, error?: unknown): Error {
  return new Error(`GET ${start.href}: http request for bundle content failed: ${cause}`, {
    cause: error,
  });
}

interface MeasuredBodyOptions {
  readonly url: URL;
  readonly limits: Pick<ContentLimits, 'maxBytes'>;
}

/** Headers and padding, for content that compresses badly. */
const overhead = 1024 * 1024;

/** A response's body with its digest, limited to the maximum size of content. */
export class MeasuredBody implements ByteStream {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #options: MeasuredBodyOptions;
  readonly #hash = createHash('sha256');
  #bytes = 0;

  constructor(body: ByteStream, options: MeasuredBodyOptions) {
    this.#chunks = body[Symbol.asyncIterator]();
    this.#options = options;
  }

  /** Without `return`, a reader that stops early leaves the rest to `checksum`. */
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return { next: () => this.#next() };
  }

  /** `sha256:<hex>` of the whole body; call it after the other readers have finished. */
  async checksum(): Promise<string> {
    while ((await this.#next()).done !== true);
    return `sha256:${this.#hash.digest('hex')}`;
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    const result = await this.#read();
    if (result.done === true) return result;
    const { maxBytes } = this.#options.limits;
    this.#bytes += result.value.byteLength;
    if (this.#bytes > 2 * maxBytes + overhead) {
      throw new TerminalError(
        `GET ${this.#options.url.href}: the archive is larger than content of ${maxBytes} bytes can be (--max-content-bytes)`,
      );
    }
    this.#hash.update(result.value);
    return result;
  }

  async #read(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.#chunks.next();
    } catch (error) {
      throw bodyError(this.#options.url, error);
    }
  }
}

/** The error that ended the body. */
function bodyError(url: URL, error: unknown): Error {
  return new Error(
    `GET ${url.href}: reading the bundle content failed: ${connectionProblem(error)}`,
    { cause: error },
  );
}
