import { stringifyJson } from '../../../core/sdk.ts';
import type { BundleProblem, RegistryBundle } from '../bundle/registry-bundle.ts';
import {
  type Installation,
  neededModes,
  supportedModes,
  watchesAllNamespaces,
} from '../installation.ts';

/**
 * One of the operator's install modes must allow the watched namespaces, by OLM's rules. Without a
 * spec.config these are all namespaces, with v0.16's message.
 */
export function* supportedInstallMode(
  { csv }: RegistryBundle,
  installation: Installation,
): Generator<BundleProblem, void> {
  const supported = supportedModes(csv);
  if (neededModes(installation).every((mode) => supported.has(mode))) return;
  if (!installation.configured) {
    yield { message: 'AllNamespace install mode must be enabled' };
    return;
  }
  const targets = watchesAllNamespaces(installation)
    ? 'targeting all namespaces'
    : `target namespaces [${installation.targetNamespaces.join(' ')}]`;
  const modes = [...supported].join(' ');
  yield {
    message: `supported install modes [${modes}] do not support ${targets}: ${wayOut(supported, installation)}`,
  };
}

function wayOut(supported: ReadonlySet<string>, installation: Installation): string {
  const { installNamespace: own } = installation;
  const ways = [
    ['AllNamespaces', 'neither spec.config.watchNamespace nor watchNamespaces'],
    ...ownNamespaceWays(installation).map((way) => ['OwnNamespace', way] as const),
    ['SingleNamespace', `spec.config.watchNamespace: <another namespace than ${own}>`],
    ['MultiNamespace', `spec.config.watchNamespaces: <several namespaces without ${own}>`],
  ] as const;
  const possible = ways.flatMap(([mode, way]) => (supported.has(mode) ? [way] : []));
  if (possible.length === 0) {
    return 'the operator supports none, correct spec.installModes of its CSV';
  }
  return `write ${possible.join(', or ')}`;
}

function ownNamespaceWays({ installNamespace, targetNamespaces }: Installation): readonly string[] {
  const [only = '', ...more] = targetNamespaces;
  const watched = `spec.config.watchNamespace: ${installNamespace}`;
  if (only === '' || more.length > 0 || only === installNamespace) return [watched];
  return [watched, `spec.config.installNamespace: ${only}`];
}

const mebibyte = 1024 * 1024;
/** As much as content may have, and far more than any operator needs. */
const maxRoleBytes = 64 * mebibyte;
/** Bytes of a Role and a RoleBinding without their rules. */
const roleBytes = 1024;

/**
 * Permissions are repeated in each namespace: few names must not make more than fits into memory.
 */
export function* roomForRoles(
  { csv: { permissions } }: RegistryBundle,
  installation: Installation,
): Generator<BundleProblem, void> {
  if (watchesAllNamespaces(installation)) return;
  const rules = permissions.map((each) => each.rules?.map((rule) => rule.asWritten) ?? []);
  const namespaces = installation.targetNamespaces.length + 1;
  const bytes = (stringifyJson(rules).length + permissions.length * roleBytes) * namespaces;
  if (bytes <= maxRoleBytes) return;
  yield {
    message: `Roles for ${permissions.length} permissions in ${namespaces} namespaces would take ${Math.ceil(bytes / mebibyte)} MiB, more than ${maxRoleBytes / mebibyte} MiB: name fewer namespaces in spec.config.watchNamespaces`,
  };
}
