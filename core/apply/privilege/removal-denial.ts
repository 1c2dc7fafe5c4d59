import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import type { RemoveRequest } from '../../contracts/applier.ts';
import { TerminalError } from '../../errors.ts';
import { isForbidden, type KubeClient } from '../../platform/kube/index.ts';
import type { InventoryEntry } from '../inventory/entry.ts';
import { permissionsOn } from './permissions.ts';
import { accountExists, accountText, lackedPermissions, permissionList } from './preflight.ts';

type Entry = Pick<InventoryEntry, 'resource' | 'key'>;

interface Identity {
  readonly owner: BundleDeployment;
  /** Has the permissions of the owner. */
  readonly client: Pick<KubeClient, 'request'>;
  readonly signal: AbortSignal;
}

/** Core deletes a version that it knows, and reads the object again if it has changed. */
const deleteVerbs = ['delete', 'get'] as const;
const orphanVerbs = ['patch', 'get'] as const;

/**
 * True if the API server refused core an object's marks because the owner's ServiceAccount lacks
 * permissions, and not because of an admission policy.
 */
export async function isOrphanDenied(
  error: unknown,
  entry: Entry,
  { owner, client, signal }: Identity,
): Promise<boolean> {
  const { serviceAccount } = owner.spec;
  if (serviceAccount === undefined || !isForbidden(error)) return false;
  try {
    const wanted = permissionsOn(entry, orphanVerbs);
    return (await lackedPermissions(serviceAccount, wanted, { client, signal })).length > 0;
  } catch (cause) {
    // Core may not impersonate the account any more.
    if (cause instanceof TerminalError) return true;
    throw cause;
  }
}

interface RefusedRemoval extends Identity, Pick<RemoveRequest, 'policy'> {
  /** Reads ServiceAccounts with core's own permissions. */
  readonly own: Pick<KubeClient, 'get'>;
  /** All objects that are still to be deleted or orphaned, so that the user grants only once. */
  readonly entries: readonly Entry[];
}

/**
 * The error for refused deletions that names all permissions that the owner's ServiceAccount lacks,
 * and the cures; undefined when it lacks none: then the API server's own texts say more.
 */
export async function removalDenial(
  errors: readonly unknown[],
  { owner, policy, client, own, entries, signal }: RefusedRemoval,
): Promise<Error | undefined> {
  const { serviceAccount: account } = owner.spec;
  if (account === undefined || !errors.some(isForbidden)) return undefined;
  const verbs = policy === 'Orphan' ? orphanVerbs : deleteVerbs;
  const wanted = entries.flatMap((entry) => permissionsOn(entry, verbs));
  const missing = await lackedPermissions(account, wanted, { client, signal });
  if (missing.length === 0) return undefined;
  const exists = await accountExists(own, account, signal);
  const name = owner.metadata.name ?? '';
  return new TerminalError(
    `${accountText(account)} ${exists ? 'lacks' : 'does not exist, and lacks'} permissions for the deletion: ${permissionList(missing)}. ` +
      `Grant them ("rukpakctl permissions ${name} --missing" prints them as RBAC objects)` +
      `${policy === 'Orphan' ? '' : `, or keep the objects: ${orphanCommand(name)}`}. Core retries every minute`,
    { reason: bundleDeploymentReason.permissionsMissing },
  );
}

function orphanCommand(name: string): string {
  const patch = '{"spec":{"deletionPolicy":"Orphan"}}';
  return `kubectl patch bundledeployment ${name} --type=merge --patch='${patch}'`;
}
