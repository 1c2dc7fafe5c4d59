import { createHmac, randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { AccessRequest, AccessReview, AccessReviewer } from './access-review.ts';
import type { Caller } from './authenticate.ts';

interface CachedReview {
  readonly review: AccessReview;
  readonly expires: number;
}

const allowedFor = 10_000;
const refusedFor = 5_000;
const maxReviews = 1000;

/**
 * Remembers reviews: ten seconds a yes, five a no. At most a thousand are kept, the least recently
 * used go first. Tokens are not kept, only a keyed hash that means nothing outside this process.
 */
export function cachedAccessReviewer(reviewer: AccessReviewer, clock: Clock): AccessReviewer {
  const secret = randomBytes(32);
  const reviews = new Map<string, CachedReview>();
  return {
    async review(caller, request, signal) {
      const key = cacheKey(secret, caller, request);
      const cached = reviews.get(key);
      reviews.delete(key);
      if (cached !== undefined && cached.expires > clock.monotonic()) {
        reviews.set(key, cached);
        return cached.review;
      }
      const review = await reviewer.review(caller, request, signal);
      const lifetime = review.authenticated && review.allowed ? allowedFor : refusedFor;
      reviews.set(key, { review, expires: clock.monotonic() + lifetime });
      const [oldest] = reviews.keys();
      if (reviews.size > maxReviews && oldest !== undefined) reviews.delete(oldest);
      return review;
    },
  };
}

function cacheKey(secret: Buffer, caller: Caller, request: AccessRequest): string {
  // JSON keeps the parts apart, whatever characters they hold.
  return createHmac('sha256', secret)
    .update(JSON.stringify([caller, request]))
    .digest('base64');
}
