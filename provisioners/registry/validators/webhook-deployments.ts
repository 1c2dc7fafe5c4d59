import type { RegistryBundle } from '../registry-bundle.ts';

/** Each webhook is served by a deployment of the CSV: without one, every request it is for fails. */
export function webhookDeployments({ csv }: RegistryBundle): string | undefined {
  const names = new Set(csv.deployments.map(({ name }) => name));
  const webhook = csv.webhookDefinitions.find(({ deploymentName }) => !names.has(deploymentName));
  if (webhook === undefined) return undefined;
  const { type, generateName, deploymentName } = webhook;
  return `webhook of type '${type}' with name '${generateName}' references non-existent deployment '${deploymentName}'; correct deploymentName in the CSV's webhookdefinitions to a deployment of spec.install`;
}
