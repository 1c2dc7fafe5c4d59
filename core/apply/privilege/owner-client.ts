import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import type { KubeClient } from '../../platform/kube/index.ts';

/** The client that has the permissions of a deployment: its ServiceAccount's, or else our own. */
export function clientOf({ spec }: BundleDeployment, own: KubeClient): KubeClient {
  return spec.serviceAccount === undefined ? own : own.impersonate(spec.serviceAccount);
}
