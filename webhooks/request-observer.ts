import type { IncomingMessage, ServerResponse } from 'node:http';

/** Hears of each request to a webhook, by the path of the webhook. */
export interface RequestObserver {
  began(webhook: string): void;
  answered(webhook: string, code: number, seconds: number): void;
}

/** Tells the observer of a request from now to the end of its answer. */
export function observeRequest(
  webhook: string,
  { response, observer }: { response: ServerResponse; observer: RequestObserver },
): void {
  const startedAt = performance.now();
  observer.began(webhook);
  response.once('close', () => {
    const seconds = (performance.now() - startedAt) / 1000;
    observer.answered(webhook, response.statusCode, seconds);
  });
}

/** The path of a request without its query. */
export function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?', 1)[0] ?? '';
}
