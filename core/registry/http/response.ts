import type { Dispatcher } from 'undici';

export interface TransportResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Dispatcher.ResponseData['body'];
  /** Final URL, after redirects. */
  readonly url: URL;
}

/** Discards an answer's body; keeps the connection if little of it is left. */
export async function discard({ body }: TransportResponse): Promise<void> {
  await body.dump({ limit: 65_536 }).catch(() => undefined);
}

const statusTexts: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
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

/** URL of the next part of a list (distribution spec, Link header of RFC 5988). */
export function nextPage({ headers, url }: TransportResponse): string | undefined {
  const link = [headers['link'] ?? []].flat().join(',');
  const [, next] = /<([^<>]*)>[^<>]*\brel="?next\b/i.exec(link) ?? [];
  return next === undefined ? undefined : URL.parse(next, url.href)?.href;
}
