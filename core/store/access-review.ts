import * as z from 'zod';
import { record } from '../../api/record.ts';
import type { KubeClient } from '../platform/kube/index.ts';
import type { Caller } from './authenticate.ts';

/** What a caller wants to do; the verb is as RBAC knows it, such as `get`. */
export type AccessRequest =
  /** Of a non-resource URL. */
  | { readonly verb: string; readonly path: string }
  /** Of an object of the cluster that has no namespace. */
  | {
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly name: string;
    };

export type AccessReview =
  | { readonly authenticated: false }
  | { readonly authenticated: true; readonly user: string; readonly allowed: boolean };

/** Decides who a caller is and whether they may. */
export interface AccessReviewer {
  /** Throws where it cannot be decided; that never means yes. */
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
 * Asks the API server: a TokenReview where the caller has a token, then a SubjectAccessReview of the
 * path or the object. A token must be for one of the audiences; for the API server's own without any.
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
  // An authenticator that knows of no audiences says yes to any: then the token is for others.
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
