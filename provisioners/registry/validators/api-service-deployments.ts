import { apiServiceName } from '../generators/api-services.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

/** Each owned API is served by a deployment of the CSV, and has a group and a version. */
export function apiServiceDeployments({ csv }: RegistryBundle): string | undefined {
  const names = new Set(csv.deployments.map(({ name }) => name));
  for (const owned of csv.ownedApiServices) {
    const name = apiServiceName(owned);
    if (owned.group === '' || owned.version === '') {
      return `owned APIService '${name}' has no ${owned.group === '' ? 'group' : 'version'}; add it in the CSV's apiservicedefinitions`;
    }
    if (!names.has(owned.deploymentName)) {
      return `owned APIService '${name}' references non-existent deployment '${owned.deploymentName}'; correct deploymentName in the CSV's apiservicedefinitions to a deployment of spec.install`;
    }
  }
  return undefined;
}
