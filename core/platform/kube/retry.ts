import type { TextResponse } from './text-response.ts';

const longestDelay = 10_000;

/** Milliseconds until the server wants to be asked again; undefined where it does not. */
export function retryDelay({ status, headers }: Omit<TextResponse, 'text'>): number | undefined {
  const header = headers['retry-after'];
  const busy = status === 429 || (status >= 500 && header !== undefined);
  if (!busy) return undefined;
  const seconds = Number(header ?? 1);
  if (!Number.isFinite(seconds) || seconds < 0) return 1000;
  return Math.min(seconds * 1000, longestDelay);
}

const staleCodes: readonly unknown[] = ['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE'];

/** Whether a kept-alive connection broke rather than the server being away. */
export function isStaleConnection(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause && staleCodes.includes(cause.code);
}
