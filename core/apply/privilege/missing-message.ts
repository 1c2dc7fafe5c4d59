import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import { shortList } from '../../short-list.ts';
import { type Permission, resourceName } from './permission.ts';

/** A bundle may have thousands of objects in hundreds of namespaces, and etcd bounds a status. */
const maxLength = 8_000;
const listedNames = 3;

/** The sentence about a ServiceAccount that may not do what a deployment takes. */
export function missingMessage(
  { namespace, name }: ServiceAccountRef,
  { missing, deployment }: { readonly missing: readonly Permission[]; readonly deployment: string },
): string {
  const account = `ServiceAccount "${name}" in namespace "${namespace}"`;
  const rules = Map.groupBy(missing, (each) => `${each.namespace ?? ''} ${resourceName(each)}`);
  const lines = [...rules].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, of]) => ruleText(of));
  return (
    `${account} lacks permissions that this takes, nothing was changed: ${bounded(lines)}. ` +
    `"rukpakctl permissions ${deployment} --missing" prints them as RBAC objects`
  );
}

/** `create, get, patch configmaps (a, b) in namespace "x"` */
function ruleText(permissions: readonly Permission[]): string {
  const [first] = permissions;
  if (first === undefined) return '';
  const verbs = [...new Set(permissions.map(({ verb }) => verb))].toSorted();
  const names = new Set(permissions.flatMap(({ name }) => name ?? []));
  const where = first.namespace === undefined ? '' : ` in namespace "${first.namespace}"`;
  return `${verbs.join(', ')} ${resourceName(first)}${namesText([...names].toSorted())}${where}`;
}

function namesText(names: readonly string[]): string {
  return names.length === 0 ? '' : ` (${shortList(names, listedNames)})`;
}

function bounded(lines: readonly string[]): string {
  let length = 0;
  const listed = lines.filter((line) => {
    length += line.length;
    return length <= maxLength;
  });
  const more = lines.length - listed.length;
  return `${listed.join('; ')}${more > 0 ? `; and ${more} more` : ''}`;
}
