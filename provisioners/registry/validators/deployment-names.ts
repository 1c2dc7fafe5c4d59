import type { RegistryBundle } from '../registry-bundle.ts';

const label = '[a-z0-9](?:[-a-z0-9]*[a-z0-9])?';
const subdomain = new RegExp(`^${label}(?:\\.${label})*$`);
const maxLength = 253;

/** The API server takes no other names. */
export function deploymentNames({ csv }: RegistryBundle): string | undefined {
  const refused = csv.deployments.find(
    ({ name }) => name.length > maxLength || !subdomain.test(name),
  );
  if (refused === undefined) return undefined;
  return `invalid cluster service version strategy deployment name '${refused.name}': it must be of lower case letters, digits, '-' and '.', begin and end with a letter or digit, and have at most ${maxLength} characters; correct it in spec.install.spec.deployments of the CSV`;
}
