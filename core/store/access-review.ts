import { createHmac, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { record } from '../../api/record.ts';
import type { Clock } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { Caller } from './authorize.ts';

/** The action of a caller; the verb is RBAC's, such as `get`. */
export type AccessRequest =
  /** On a non-resource URL. */
  | { readonly verb: string; readonly path: string }
  /** On a cluster-scoped object. */
  | {
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly name: string;
    };

export type AccessReview =
  | { readonly authenticated: false }
  | { readonly authenticated: true; readonly user: string; readonly allowed: boolean };

/** Decides who a caller is and whether the caller may act. */
export interface AccessReviewer {
  /** Throws when it cannot decide; that never means yes. */
  review(caller: Caller, request: AccessRequest, signal: AbortSignal): Promise<AccessReview>;
}

const tokenReview = z.object({
  status: z.object({
    authenticated: z.boolean().optional(),
    audiences: z.array(z.string()).optional(),
    user: z
      .object({
        username: z.string().optional(),
        uid: z.string().optional(),
        groups: z.array(z.string()).optional(),
        extra: record(z.array(z.string())).optional(),
      })
      .optional(),
  }),
});

const subjectAccessReview = z.object({
  status: z.object({ allowed: z.boolean(), denied: z.boolean().optional() }),
});

type Client = Pick<KubeClient, 'request'>;

type ReviewedUser = z.infer<typeof tokenReview>['status']['user'];

/**
 * Asks the API server: a TokenReview if the caller has a token, then a SubjectAccessReview of the
 * path or the object. A token must be for one of the audiences; without audiences, for the API
 * server's own.
 */
export function apiServerAccessReviewer(
  client: Client,
  audiences: readonly string[] = [],
): AccessReviewer {
  return {
    async review(caller, access, signal) {
      const user =
        'user' in caller
          ? caller.user
          : await reviewToken(client, { token: caller.token, audiences }, signal);
      if (user?.username === undefined) return { authenticated: false };
      const { username, ...identity } = user;
      const attributes =
        'path' in access ? { nonResourceAttributes: access } : { resourceAttributes: access };
      const spec = { user: username, ...identity, ...attributes };
      return {
        authenticated: true,
        user: username,
        allowed: await mayAccess(client, spec, signal),
      };
    },
  };
}

async function reviewToken(
  client: Client,
  { token, audiences }: { readonly token: string; readonly audiences: readonly string[] },
  signal: AbortSignal,
): Promise<ReviewedUser> {
  const answer = await client.request({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, ...(audiences.length === 0 ? {} : { audiences }) },
    },
    signal,
  });
  const { status } = tokenReview.parse(answer);
  if (status.authenticated !== true) return undefined;
  // An authenticator without audience support accepts tokens for any audience, also for others.
  const isForUs = status.audiences?.some((audience) => audiences.includes(audience)) === true;
  return audiences.length === 0 || isForUs ? status.user : undefined;
}

async function mayAccess(client: Client, spec: object, signal: AbortSignal): Promise<boolean> {
  const answer = await client.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec },
    signal,
  });
  const { allowed, denied } = subjectAccessReview.parse(answer).status;
  return allowed && denied !== true;
}

interface CachedReview {
  readonly review: AccessReview;
  readonly expires: number;
}

const allowedFor = 10_000;
const refusedFor = 5_000;
const maxReviews = 1000;

/** Maximum concurrent requests to the API server, which reconcilers need too. */
const maxAsked = 16;
const reviewTimeout = 10_000;

/**
 * Caches reviews: ten seconds a yes, five a no. Keeps at most a thousand, and drops the least
 * recently used. Concurrent equal reviews share one request, and unknown tokens take few of the
 * connections to the API server. Stores no tokens, only keyed hashes that are useless outside this
 * process.
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

/** Other callers may wait for the same review. */
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
  // JSON separates the parts, whatever characters they contain.
  return createHmac('sha256', secret)
    .update(JSON.stringify([caller, request]))
    .digest('base64');
}
