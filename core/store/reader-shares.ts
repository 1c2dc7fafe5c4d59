import type { RequestHandler } from 'express';
import { sendText } from './text-response.ts';

/** Archives that one user is sent at a time: eight managers of eight workers each. */
export const maxReadsOfUser = 64;

/** Seconds; some of them have ended by then, or been cut. */
const retryAfter = '10';

/** Lets one user have a share of what is sent at a time, for others not to be kept from theirs. */
export function shareReaders(): RequestHandler<{ file: string }> {
  const running = new Map<string, number>();
  return (_request, response, next) => {
    const user = String(response.locals['user'] ?? '');
    const count = running.get(user) ?? 0;
    if (count >= maxReadsOfUser) {
      response.set('Retry-After', retryAfter);
      const problem = `${user} reads ${maxReadsOfUser} archives at the same time already`;
      return sendText(response, 429, `${problem}: wait until one of them has ended`);
    }
    running.set(user, count + 1);
    response.once('close', () => {
      const left = (running.get(user) ?? 1) - 1;
      if (left === 0) running.delete(user);
      else running.set(user, left);
    });
    next();
  };
}
