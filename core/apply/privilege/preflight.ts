import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentReason } from '../../../api/v1alpha1/conditions.ts';
import type { ServiceAccountRef } from '../../../api/v1alpha1/deployment-policies.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import {
  isForbidden,
  isNotFound,
  type KubeClient,
  serviceAccountResource,
} from '../../platform/kube/index.ts';
import { shortList } from '../../short-list.ts';
import type { GrantedPermissions } from '../state/owner-state.ts';
import type { OwnerStates } from '../state/owner-states.ts';
import {
  missingPermissions,
  neededPermissions,
  type Permission,
  type PlannedWork,
  resourceName,
  scopeKey,
} from './permissions.ts';

export interface PreflightRequest extends PlannedWork {
  readonly owner: BundleDeployment;
  /** Has the permissions of the owner. */
  readonly client: Pick<KubeClient, 'request'>;
  readonly signal: AbortSignal;
}

const reason = bundleDeploymentReason.permissionsMissing;

/** Checks the permissions of a deployment's ServiceAccount before core changes anything. */
export class Preflight {
  readonly #client: Pick<KubeClient, 'get'>;
  readonly #owners: OwnerStates;

  /** The client reads ServiceAccounts with core's own permissions. */
  constructor(client: Pick<KubeClient, 'get'>, owners: OwnerStates) {
    this.#client = client;
    this.#owners = owners;
  }

  /**
   * Asks the API server about every permission that a plan needs and that is not known to be
   * granted; asks nothing for owners without an account. For a new account it also asks about
   * unchanged objects: otherwise a repair or the deletion would show what is missing.
   * @throws TerminalError that lists every missing permission.
   */
  async run(request: PreflightRequest): Promise<void> {
    const { owner } = request;
    const { name: ownerName = '' } = owner.metadata;
    const account = owner.spec.serviceAccount;
    if (account === undefined) return;
    const granted = this.#grantedTo(owner, account);
    const accountKey = `${account.namespace}/${account.name}`;
    const isTrusted = granted.trusted === accountKey;
    const needed = neededPermissions(isTrusted ? { ...request, kept: [] } : request);
    const wanted = needed.filter((each) => !granted.permissions.has(keyOf(each)));
    if (wanted.length === 0) return;
    if (!(await accountExists(this.#client, account, request.signal))) {
      throw new TerminalError(
        `${accountText(account)}, which spec.serviceAccount names, does not exist: nothing was changed`,
        { reason },
      );
    }
    const missing = await lackedPermissions(account, wanted, request);
    if (missing.length > 0) {
      throw new TerminalError(missingMessage(account, { missing, deployment: ownerName }), {
        reason,
      });
    }
    for (const each of wanted) granted.permissions.add(keyOf(each));
    granted.trusted = accountKey;
  }

  /** Asks again about the permissions of an owner's account at its next apply. */
  forget(ownerName: string): void {
    const state = this.#owners.find(ownerName);
    if (state !== undefined) state.permissions = undefined;
  }

  #grantedTo(owner: BundleDeployment, { namespace, name }: ServiceAccountRef): GrantedPermissions {
    const { name: ownerName = '', uid, generation } = owner.metadata;
    const of = [namespace, name, uid, generation].join('|');
    const state = this.#owners.of(ownerName);
    if (state.permissions?.of !== of) {
      state.permissions = { ...state.permissions, of, permissions: new Set() };
    }
    return state.permissions;
  }
}

/** The API server allows impersonation of accounts that do not exist. */
export async function accountExists(
  client: Pick<KubeClient, 'get'>,
  { namespace, name }: ServiceAccountRef,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.get(serviceAccountResource, { namespace, name }, signal);
    return true;
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return false;
  }
}

export function accountText({ namespace, name }: ServiceAccountRef): string {
  return `ServiceAccount "${name}" in namespace "${namespace}"`;
}

/**
 * The permissions that the account lacks.
 * @throws TerminalError when core may not impersonate the account.
 */
export async function lackedPermissions(
  account: ServiceAccountRef,
  wanted: readonly Permission[],
  { client, signal }: Pick<PreflightRequest, 'client' | 'signal'>,
): Promise<readonly Permission[]> {
  try {
    return await missingPermissions(client, wanted, signal);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    // The account may not even ask: only the API server knows what is missing.
    throw new TerminalError(`cannot act as ${accountText(account)}: ${errorMessage(error)}`, {
      reason,
      cause: error,
    });
  }
}

function keyOf(permission: Permission): string {
  return `${scopeKey(permission)}|${permission.name ?? ''}`;
}

/**
 * UTF-16 units: a bundle may have thousands of objects in hundreds of namespaces, and etcd limits a
 * status.
 */
const maxLength = 8_000;
const listedNames = 3;

/** The message that lists a ServiceAccount's missing permissions. */
function missingMessage(
  account: ServiceAccountRef,
  { missing, deployment }: { readonly missing: readonly Permission[]; readonly deployment: string },
): string {
  return (
    `${accountText(account)} lacks permissions for this, nothing was changed: ${permissionList(missing)}. ` +
    `"rukpakctl permissions ${deployment} --missing" prints them as RBAC objects`
  );
}

/** `create, get configmaps (a, b) in namespace "x"; …`, with the longest lists cut. */
export function permissionList(missing: readonly Permission[]): string {
  const rules = Map.groupBy(missing, (each) => `${each.namespace ?? ''} ${resourceName(each)}`);
  const lines = [...rules].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, of]) => ruleText(of));
  return bounded(lines);
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
