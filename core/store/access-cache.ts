import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../platform/clock.ts';
import type { AccessRequest, AccessReview, AccessReviewer } from './access-review.ts';
import type { Caller } from './authenticate.ts';

interface CachedReview {
  readonly review: AccessReview;
  readonly expires: number;
}

const allowedFor = 10_000;
const refusedFor = 5_000;
const maxReviews = 1000;

/** The API server is asked for so many at once; reconcilers ask it too. */
const maxAsked = 16;
const reviewTimeout = 10_000;

/**
 * Remembers reviews: ten seconds a yes, five a no. At most a thousand are kept, the least recently
 * used go first. What many ask at once is asked once, and strangers' tokens take few of the
 * connections to the API server. Tokens are not kept, only a keyed hash that means nothing outside
 * this process.
 */
export function cachedAccessReviewer(reviewer: AccessReviewer, clock: Clock): AccessReviewer {
  const secret = randomBytes(32);
  const reviews = new Map<string, CachedReview>();
  const running = new Map<string, Promise<AccessReview>>();
  const waiting: (() => void)[] = [];
  let asked = 0;

  async function ask(caller: Caller, request: AccessRequest): Promise<AccessReview> {
    const signal = AbortSignal.timeout(reviewTimeout);
    if (asked >= maxAsked) await new Promise<void>((resolve) => waiting.push(resolve));
    else asked += 1;
    try {
      signal.throwIfAborted();
      return await reviewer.review(caller, request, signal);
    } finally {
      const next = waiting.shift();
      if (next === undefined) asked -= 1;
      else next();
    }
  }

  function remember(key: string, review: AccessReview): void {
    const lifetime = review.authenticated && review.allowed ? allowedFor : refusedFor;
    reviews.set(key, { review, expires: clock.monotonic() + lifetime });
    const [oldest] = reviews.keys();
    if (reviews.size > maxReviews && oldest !== undefined) reviews.delete(oldest);
  }

  return {
    async review(caller, request, signal) {
      const key = cacheKey(secret, caller, request);
      const cached = reviews.get(key);
      reviews.delete(key);
      if (cached !== undefined && cached.expires > clock.monotonic()) {
        reviews.set(key, cached);
        return cached.review;
      }
      let review = running.get(key);
      if (review === undefined) {
        review = ask(caller, request).finally(() => running.delete(key));
        running.set(key, review);
        review.then((known) => remember(key, known)).catch(() => undefined);
      }
      return await unlessGone(review, signal);
    },
  };
}

/** Others may wait for the same. */
async function unlessGone(
  review: Promise<AccessReview>,
  signal: AbortSignal,
): Promise<AccessReview> {
  signal.throwIfAborted();
  const gone = Promise.withResolvers<never>();
  const leave = (): void => gone.reject(signal.reason);
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([review, gone.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}

function cacheKey(secret: Buffer, caller: Caller, request: AccessRequest): string {
  // JSON keeps the parts apart, whatever characters they hold.
  return createHmac('sha256', secret)
    .update(JSON.stringify([caller, request]))
    .digest('base64');
}
