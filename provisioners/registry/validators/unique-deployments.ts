import type { RegistryBundle } from '../registry-bundle.ts';

/** Of two deployments with one name only one would be there. */
export function uniqueDeployments({ csv }: RegistryBundle): string | undefined {
  const names = csv.deployments.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return undefined;
  return `cluster service version contains duplicate strategy deployment spec '${twice}'; give each of spec.install.spec.deployments of the CSV its own name`;
}
