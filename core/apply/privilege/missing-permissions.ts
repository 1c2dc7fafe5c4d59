import * as z from 'zod';
import type { KubeClient } from '../../platform/kube/index.ts';
import { forEachLimit } from '../objects/for-each-limit.ts';
import { type Permission, scopeKey } from './permission.ts';

const concurrentReviews = 8;

const reviewSchema = z.object({
  status: z.object({ allowed: z.boolean(), denied: z.boolean().optional() }),
});

/**
 * Those of the permissions that the client's identity does not have. Asks once for each verb, kind
 * and namespace, and about single objects only where that is refused: a rule may name them.
 * @throws ApiError where the API server does not answer.
 */
export async function missingPermissions(
  client: Pick<KubeClient, 'request'>,
  permissions: readonly Permission[],
  signal: AbortSignal,
): Promise<readonly Permission[]> {
  const scopes = [...Map.groupBy(permissions, scopeKey).values()];
  const missing: Permission[] = [];
  await forEachLimit(scopes, concurrentReviews, async (scope) => {
    const [first] = scope;
    if (first === undefined || (await isAllowed(client, { ...first, name: undefined }, signal))) {
      return;
    }
    for (const permission of distinct(scope)) {
      const named = permission.name !== undefined;
      if (named && (await isAllowed(client, permission, signal))) continue;
      missing.push(permission);
    }
  });
  return missing;
}

function distinct(scope: readonly Permission[]): Iterable<Permission> {
  return new Map(scope.map((permission) => [permission.name, permission])).values();
}

function attributesOf({ path, ...permission }: Permission): object {
  const { verb } = permission;
  if (path !== undefined) return { nonResourceAttributes: { path, verb } };
  const [resource, subresource] = permission.resource.split('/');
  return { resourceAttributes: { ...permission, resource, subresource } };
}

async function isAllowed(
  client: Pick<KubeClient, 'request'>,
  permission: Permission,
  signal: AbortSignal,
): Promise<boolean> {
  const answer = await client.request({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: attributesOf(permission),
    },
    signal,
  });
  const { allowed, denied } = reviewSchema.parse(answer).status;
  return allowed && denied !== true;
}
