import type { Dispatcher } from 'undici';

export interface TransportResponse {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Dispatcher.ResponseData['body'];
  /** Where it came from in the end, after redirects. */
  readonly url: URL;
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

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}
