import { type Dispatcher, request } from 'undici';
import { requestError } from '../../platform/net/index.ts';

export interface DownloadOptions {
  /** Sent to the URL's own origin, and to no other that it redirects to. */
  readonly authorization: string | undefined;
  readonly dispatcher: Dispatcher;
  readonly signal: AbortSignal;
}

/** As many as Go's client follows. */
const maxRedirects = 10;
const longestPhrase = 100;

/**
 * The body of one GET, redirects followed.
 * @throws Error for anything but an answer of status 200
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

/** A status line may be as long as the server likes, and another one each time. */
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

function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

function redirectTarget(from: URL, location: string, start: URL): URL {
  const target = URL.parse(location, from.href);
  if (target === null)
    throw failed(start, `Get "${start.href}": redirects to an address that is none`);
  const isHTTP = target.protocol === 'http:' || target.protocol === 'https:';
  if (!isHTTP || (from.protocol === 'https:' && target.protocol === 'http:')) {
    throw failed(
      start,
      `Get "${start.href}": refusing the redirect from ${from.protocol}// to ${target.protocol}//`,
    );
  }
  // Credentials come from the Secret alone.
  target.username = '';
  target.password = '';
  return target;
}

/** Where a redirect leads is often signed: its query is a password, and another one each time. */
function shown(url: URL, start: URL): URL {
  return url.href === start.href ? url : new URL(url.pathname, url.origin);
}

function failed(start: URL, cause: string, error?: unknown): Error {
  return new Error(`GET ${start.href}: http request for bundle content failed: ${cause}`, {
    cause: error,
  });
}
