import type { ServiceAccountRef } from '../../api/v1alpha1/deployment-policies.ts';
import type { Bundle, BundleDeployment } from '../../api/v1alpha1/index.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import { templateHash } from '../../api/v1alpha1/template-hash.ts';
import { isMadeFrom, isOwn, isRevision } from '../bundle-deployment/index.ts';

interface Deployments {
  get(key: { readonly name: string }): BundleDeployment | undefined;
}

/**
 * The ServiceAccount of the deployment that a Bundle was made for; undefined where there is none. An
 * owner and labels can be written by whoever may create Bundles, so the Bundle must be what the
 * deployment's template asks for, or a revision of it.
 */
export function sourceAccount(
  bundle: Bundle,
  deployments: Deployments,
): ServiceAccountRef | undefined {
  const { labels = {} } = bundle.metadata;
  const deployment = deployments.get({ name: labels[label.ownerName] ?? '' });
  const account = deployment?.spec.serviceAccount;
  if (deployment === undefined || account === undefined || !isOwn(bundle, deployment))
    return undefined;
  return isOfTemplate(bundle, deployment) ? account : undefined;
}

function isOfTemplate(bundle: Bundle, deployment: BundleDeployment): boolean {
  const { status = {}, spec } = deployment;
  const { name, labels = {} } = bundle.metadata;
  if (isMadeFrom(bundle, deployment, templateHash(spec.template))) return true;
  const isNamed = name === status.activeBundle || isRevision(bundle, status);
  return isNamed && isMadeFrom(bundle, deployment, labels[label.templateHash] ?? '');
}
