import { stringifyJson } from '../../../core/sdk.ts';
import { watchesAllNamespaces } from '../installation/install-modes.ts';
import type { Installation } from '../installation/installation.ts';
import type { RegistryBundle } from '../registry-bundle.ts';

const mebibyte = 1024 * 1024;
/** As much as content may have, and far more than any operator. */
const most = 64 * mebibyte;
/** Of a Role and a RoleBinding without their rules. */
const roleBytes = 1024;

/** Permissions are repeated in each namespace: a few names must not make more than can be held. */
export function roomForRoles(
  { csv: { permissions } }: RegistryBundle,
  installation: Installation,
): string | undefined {
  if (watchesAllNamespaces(installation)) return undefined;
  const rules = permissions.map((each) => each.rules?.map((rule) => rule.asWritten) ?? []);
  const namespaces = installation.targetNamespaces.length + 1;
  const bytes = (stringifyJson(rules).length + permissions.length * roleBytes) * namespaces;
  if (bytes <= most) return undefined;
  return `Roles for ${permissions.length} permissions in ${namespaces} namespaces would take ${Math.ceil(bytes / mebibyte)} MiB, more than ${most / mebibyte} MiB: name fewer namespaces in spec.config.watchNamespaces`;
}
