import type { BundleDeployment } from './bundle-deployment.ts';
import { annotation } from './labels.ts';

const serviceAccountUser = /^system:serviceaccount:([^:]+):[^:]+$/;

/**
 * Who asks for a deployment, as far as it is known: creators share what core can do at once. Of
 * ServiceAccounts it is the namespace, as whoever may make one there may make a hundred.
 */
export function creatorOf({ metadata, spec }: BundleDeployment): string {
  const { name = '', annotations = {} } = metadata;
  if (spec.serviceAccount !== undefined) return `namespace ${spec.serviceAccount.namespace}`;
  const user = annotations[annotation.changedBy];
  if (user === undefined) return `deployment ${name}`;
  const [, namespace] = serviceAccountUser.exec(user) ?? [];
  return namespace === undefined ? `user ${user}` : `namespace ${namespace}`;
}
