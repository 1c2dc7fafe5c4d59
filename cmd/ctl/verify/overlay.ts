import { fieldAt, listOf, stringAt } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { deploymentResource, isForbidden, liveObject } from '../../../core/platform/kube/index.ts';
import type { VerifyContext } from './check.ts';

/** What an overlay changes of the processes and their permissions. */
export interface Overlay {
  /** Overlay split: Deployment core unpacks, and Deployment core-apply installs. */
  readonly isSplit: boolean;
  /** Overlay impersonation: core installs only as ServiceAccounts that BundleDeployments name. */
  readonly needsAccounts: boolean;
}

/** Read from the Deployment `core`; that of a new installation if the user may not read it. */
export async function installedOverlay({
  cluster,
  signal,
  systemNamespace: namespace,
}: VerifyContext): Promise<Overlay> {
  const target = { resource: deploymentResource, key: { namespace, name: 'core' } };
  try {
    return overlayOf(await liveObject(cluster.client, target, signal));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return overlayOf(undefined);
  }
}

/** Pure. */
export function overlayOf(core: KubernetesObject | undefined): Overlay {
  const containers = listOf(fieldAt(core?.['spec'], 'template', 'spec', 'containers'));
  const container = containers.find((each) => stringAt(each, 'name') === 'core');
  const args = listOf(fieldAt(container, 'args'));
  return {
    isSplit: args[0] === 'unpack',
    needsAccounts: args.includes('--require-service-account'),
  };
}
