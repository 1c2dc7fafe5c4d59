import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import type { KubeClient, Resource } from '../../core/platform/kube/index.ts';
import type { AdmissionUser } from '../review.ts';
import type { DeploymentCheck } from './bundle-deployment.ts';

export interface ImpersonationCheckOptions {
  readonly client: Pick<KubeClient, 'create'>;
}

const subjectAccessReviewResource: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  namespaced: false,
};

const reviewSchema = z.object({
  status: z.object({ allowed: z.boolean(), denied: z.boolean().optional() }),
});

/** Refuses deployments without spec.serviceAccount, which would get core's own permissions. */
export const requiredAccountCheck: DeploymentCheck = ({ deployment }) =>
  deployment.spec.serviceAccount === undefined
    ? "spec.serviceAccount must be set: the webhooks run with --require-service-account, so that no BundleDeployment gets core's own permissions"
    : undefined;

/**
 * Lets only users with permission to impersonate a ServiceAccount change what it does: otherwise
 * every author of BundleDeployments would have the permissions of every account.
 */
export function impersonationCheck({ client }: ImpersonationCheckOptions): DeploymentCheck {
  return async ({ deployment, old, user }, signal) => {
    const accounts = [deployment.spec.serviceAccount, old?.spec.serviceAccount];
    for (const account of distinct(accounts)) {
      if (!(await mayImpersonate(client, { user, account }, signal))) {
        return refusal(user, account);
      }
    }
    return undefined;
  };
}

function distinct(accounts: readonly (ServiceAccountRef | undefined)[]): ServiceAccountRef[] {
  const named = accounts.filter((account) => account !== undefined);
  return named.filter(
    (account, index) => named.findIndex((other) => isDeepStrictEqual(other, account)) === index,
  );
}

async function mayImpersonate(
  client: Pick<KubeClient, 'create'>,
  { user, account }: { readonly user: AdmissionUser; readonly account: ServiceAccountRef },
  signal: AbortSignal,
): Promise<boolean> {
  const { username, uid, groups, extra } = user;
  const { namespace, name } = account;
  const answer = await client.create(
    subjectAccessReviewResource,
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      metadata: {},
      spec: {
        user: username,
        uid,
        groups,
        extra,
        resourceAttributes: { verb: 'impersonate', resource: 'serviceaccounts', namespace, name },
      },
    },
    signal,
  );
  const { allowed, denied } = reviewSchema.parse(answer).status;
  return allowed && denied !== true;
}

function refusal({ username }: AdmissionUser, { namespace, name }: ServiceAccountRef): string {
  return (
    `user "${username}" may not impersonate ServiceAccount "${name}" in namespace "${namespace}", ` +
    'which spec.serviceAccount names: that takes a Role in this namespace with the rule ' +
    `{apiGroups: [""], resources: [serviceaccounts], resourceNames: [${name}], verbs: [impersonate]}`
  );
}
