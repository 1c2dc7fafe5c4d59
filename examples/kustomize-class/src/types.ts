/**
 * Whether an object is of a type, written `group/version/Kind` with `*` for any: as kustomize's own
 * tables have it, where the group or the version is often left open.
 */
export function isOfType(apiVersion: string, kind: string, type: string): boolean {
  const [group = '', version = ''] = apiVersion.includes('/')
    ? apiVersion.split('/')
    : ['', apiVersion];
  const found = [group, version, kind];
  return type.split('/').every((wanted, at) => wanted === '*' || wanted === found[at]);
}
