import * as z from 'zod';
import type { KubeClient } from '../kube/kube-client.ts';

export interface AccessRequest {
  /** As RBAC knows it, such as `get`. */
  readonly verb: string;
  /** The non-resource URL's path. */
  readonly path: string;
}

export type AccessReview =
  | { readonly authenticated: false }
  | { readonly authenticated: true; readonly user: string; readonly allowed: boolean };

/** Decides who a bearer token is and whether they may. */
export interface AccessReviewer {
  /** Throws where it cannot be decided; that never means yes. */
  review(token: string, request: AccessRequest, signal: AbortSignal): Promise<AccessReview>;
}

const tokenReview = z.object({
  status: z.object({
    authenticated: z.boolean().optional(),
    user: z
      .object({
        username: z.string().optional(),
        uid: z.string().optional(),
        groups: z.array(z.string()).optional(),
        extra: z.record(z.string(), z.array(z.string())).optional(),
      })
      .optional(),
  }),
});

const subjectAccessReview = z.object({
  status: z.object({ allowed: z.boolean(), denied: z.boolean().optional() }),
});

/** Asks the API server: a TokenReview, then a SubjectAccessReview of the path (spec 4.5). */
export function apiServerAccessReviewer(client: Pick<KubeClient, 'request'>): AccessReviewer {
  return {
    async review(token, { verb, path }, signal) {
      const { authenticated, user } = tokenReview.parse(
        await client.request({
          method: 'POST',
          path: '/apis/authentication.k8s.io/v1/tokenreviews',
          body: {
            apiVersion: 'authentication.k8s.io/v1',
            kind: 'TokenReview',
            spec: { token },
          },
          signal,
        }),
      ).status;
      if (authenticated !== true || user?.username === undefined) return { authenticated: false };
      const { username, ...identity } = user;
      const { allowed, denied } = subjectAccessReview.parse(
        await client.request({
          method: 'POST',
          path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          body: {
            apiVersion: 'authorization.k8s.io/v1',
            kind: 'SubjectAccessReview',
            spec: { user: username, ...identity, nonResourceAttributes: { path, verb } },
          },
          signal,
        }),
      ).status;
      return { authenticated: true, user: username, allowed: allowed && denied !== true };
    },
  };
}
