import { createHmac, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { record } from '../../api/record.ts';
import { type Clock, withDeadline } from '../platform/clock.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import { FairSemaphore } from '../platform/runtime/index.ts';
import { SharedWork } from '../platform/shared-work.ts';
import { Shares } from '../platform/shares.ts';
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

type ApiClient = Pick<KubeClient, 'request'>;

type ReviewedUser = z.infer<typeof tokenReview>['status']['user'];

/**
 * Asks the API server: a TokenReview if the caller has a token, then a SubjectAccessReview of the
 * path or the object. A token must be for one of the audiences; without audiences, for the API
 * server's own.
 */
export function apiServerAccessReviewer(
  client: ApiClient,
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
  client: ApiClient,
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

async function mayAccess(client: ApiClient, spec: object, signal: AbortSignal): Promise<boolean> {
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
/** Maximum reviews of one address that wait or are asked. Core's own processes ask for a few. */
const maxOfAddress = 64;
/** Milliseconds to wait for a place among those that are asked, and then for the answer. */
const timeLimit = 10_000;

/** The client of a request, which waits for its review until the signal is aborted. */
interface Client {
  readonly address: string;
  readonly signal: AbortSignal;
}

/** An AccessReviewer that divides its places among the clients' addresses. */
export interface SharedAccessReviewer {
  /** Throws as an AccessReviewer, and TooManyReviews at once when the address has its share. */
  review(caller: Caller, request: AccessRequest, client: Client): Promise<AccessReview>;
}

/** Too many requests of one address wait for their review. */
export class TooManyReviews extends Error {
  override readonly name = 'TooManyReviews';
}

/**
 * Caches reviews: ten seconds a yes, five a no. Keeps at most a thousand, and drops the least
 * recently used. Concurrent equal reviews share one request, and unknown tokens take few of the
 * connections to the API server, and few places of other addresses. Stores no tokens, only keyed
 * hashes that are useless outside this process.
 */
export function cachedAccessReviewer(reviewer: AccessReviewer, clock: Clock): SharedAccessReviewer {
  const secret = randomBytes(32);
  const reviews = new Map<string, CachedReview>();
  const running = new SharedWork<AccessReview>();
  const places = new FairSemaphore({ places: maxAsked });
  const shares = new Shares({ each: maxOfAddress });

  async function ask(
    caller: Caller,
    request: AccessRequest,
    { address, signal }: Client,
  ): Promise<AccessReview> {
    if (shares.take(address) !== undefined) {
      throw new TooManyReviews(
        `${maxOfAddress} requests of ${address} wait for their authorization already: try again`,
      );
    }
    try {
      const leave = await inTime(signal, 'had no time for this', async (waiting) => {
        return await places.take({ creator: address }, waiting);
      });
      return await inTime(signal, 'did not answer', async (asking) => {
        return await reviewer.review(caller, request, asking);
      }).finally(leave);
    } finally {
      shares.giveBack(address);
    }
  }

  function remember(key: string, review: AccessReview): void {
    const lifetime = review.authenticated && review.allowed ? allowedFor : refusedFor;
    reviews.set(key, { review, expires: clock.monotonic() + lifetime });
    const [oldest] = reviews.keys();
    if (reviews.size > maxReviews && oldest !== undefined) reviews.delete(oldest);
  }

  return {
    async review(caller, request, { address, signal }) {
      const key = cacheKey(secret, caller, request);
      const cached = reviews.get(key);
      reviews.delete(key);
      if (cached !== undefined && cached.expires > clock.monotonic()) {
        reviews.set(key, cached);
        return cached.review;
      }
      const work = async (signal: AbortSignal): Promise<AccessReview> => {
        const review = await ask(caller, request, { address, signal });
        remember(key, review);
        return review;
      };
      return await running.run(key, work, signal);
    },
  };
}

async function inTime<T>(
  signal: AbortSignal,
  problem: string,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const timeoutError = () => new Error(`the API server ${problem} within ${timeLimit / 1000} s`);
  return await withDeadline({ ms: timeLimit, signal, timeoutError }, work);
}

function cacheKey(secret: Buffer, caller: Caller, request: AccessRequest): string {
  // JSON separates the parts, whatever characters they contain.
  return createHmac('sha256', secret)
    .update(JSON.stringify([caller, request]))
    .digest('base64');
}
