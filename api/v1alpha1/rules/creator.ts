import type { BundleDeployment } from '../bundle-deployment.ts';
import { annotation } from '../labels.ts';

const serviceAccountUser = /^system:serviceaccount:([^:]+):[^:]+$/;

/**
 * The creator of a deployment, as far as it is known: creators share the concurrent places of core.
 * For ServiceAccounts it is the namespace, because a user who may create one there may create a
 * hundred.
 */
export function creatorOf({ metadata, spec }: BundleDeployment): string {
  const { name = '', annotations = {} } = metadata;
  if (spec.serviceAccount !== undefined) return `namespace ${spec.serviceAccount.namespace}`;
  const user = annotations[annotation.changedBy];
  return user === undefined ? `deployment ${name}` : creatorOfUser(user);
}

/** The creator of what a user requests. */
export function creatorOfUser(user: string): string {
  const [, namespace] = serviceAccountUser.exec(user) ?? [];
  return namespace === undefined ? `user ${user}` : `namespace ${namespace}`;
}
