import { objectName } from '../objects/object-name.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

const gone = 'apiextensions.k8s.io/v1beta1';

/**
 * CRDs have to be of the version that clusters serve: no change of the version alone makes a v1beta1
 * CRD one of v1, and the cluster would refuse it when all else is installed.
 */
export function servedCrdVersion({ crds }: RegistryBundle): string | undefined {
  const names = crds.filter(({ apiVersion }) => apiVersion === gone).map(objectName);
  if (names.length === 0) return undefined;
  const are = names.length === 1 ? 'is' : 'are';
  return `bundle contains CustomResourceDefinitions that no cluster since Kubernetes 1.22 takes: ${listed(names)} ${are} of ${gone}; take a later version of the operator, or have its CRDs rewritten for apiextensions.k8s.io/v1`;
}

const maxListed = 5;

function listed(names: readonly string[]): string {
  const more = names.length - maxListed;
  const shown = names.slice(0, maxListed).join(', ');
  return more > 0 ? `${shown} and ${more} more` : shown;
}
