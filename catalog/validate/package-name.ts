const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const labelPattern = new RegExp(`^${label}$`);
const subdomainPattern = new RegExp(`^${label}(\\.${label})*$`);
const longest = 63;

/** Why a package name is invalid, in Kubernetes' words; empty for a valid one. */
export function packageNameProblems(name: string): readonly string[] {
  const length =
    Buffer.byteLength(name) > longest ? [`must be no more than ${longest} characters`] : [];
  if (labelPattern.test(name)) return length;
  if (subdomainPattern.test(name)) return [...length, 'must not contain dots'];
  return [
    ...length,
    `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${label}')`,
  ];
}
