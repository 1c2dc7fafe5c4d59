import { z } from 'zod';
import { type Check, crdNamespace, failed, ok, type VerifyContext } from './check.ts';
import { installedOverlay, type Overlay } from './overlay.ts';
import { unpackLease } from './processes.ts';

type Attributes = Readonly<Record<string, string>>;

/** A ServiceAccount of the installation. */
export interface Account {
  readonly namespace: string;
  readonly name: string;
  /** Permissions that it cannot work without. */
  readonly needs: readonly Attributes[];
}

const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const reviewSchema = z.object({ status: z.object({ allowed: z.boolean() }) });
const rukpak = 'core.rukpak.io';

/** Checks the permissions of the system's accounts with the API server. */
export async function permissionChecks(context: VerifyContext): Promise<readonly Check[]> {
  const checks: Check[] = [];
  const overlay = await installedOverlay(context);
  for (const account of accountsOf(context.systemNamespace, overlay)) {
    checks.push(await accountCheck(context, account));
  }
  return checks;
}

export async function accountCheck(
  context: VerifyContext,
  account: Account,
  cure = 'run "rukpak install", or apply an overlay of deploy/',
): Promise<Check> {
  const { namespace, name, needs } = account;
  const subject = `ServiceAccount ${namespace}/${name}`;
  const refused = await refusedTo(context, account);
  return refused.length === 0
    ? ok(subject, `permissions asked about: ${needs.length}, all granted`)
    : failed(subject, `may not ${refused.join(', ')}`, cure);
}

/** The permissions that an account lacks: `create bundles.core.rukpak.io`. */
export async function refusedTo(
  context: VerifyContext,
  { namespace, name, needs }: Account,
): Promise<readonly string[]> {
  const user = `system:serviceaccount:${namespace}:${name}`;
  const refused: string[] = [];
  for (const need of needs) {
    if (!(await isAllowed(context, user, need))) refused.push(describe(need));
  }
  return refused;
}

async function isAllowed(
  { cluster, signal }: VerifyContext,
  user: string,
  need: Attributes,
): Promise<boolean> {
  const spec = 'path' in need ? { nonResourceAttributes: need } : { resourceAttributes: need };
  const groups = ['system:serviceaccounts', 'system:authenticated'];
  const answer = await cluster.client.request({
    method: 'POST',
    path: reviews,
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups, ...spec },
    },
    signal,
  });
  return reviewSchema.parse(answer).status.allowed;
}

function describe({ verb = '', path, group = '', resource = '', subresource }: Attributes): string {
  const name = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `${verb} ${path ?? (group === '' ? name : `${name}.${group}`)}`;
}

/** Permissions of a process that installs without a ServiceAccount of the BundleDeployment. */
const installing: readonly Attributes[] = [
  { verb: 'patch', group: 'apps', resource: 'deployments' },
  { verb: 'delete', group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
  { verb: 'escalate', group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { verb: 'impersonate', group: '', resource: 'serviceaccounts' },
];

/** The accounts of an overlay, with what they need in it. */
function accountsOf(namespace: string, { isSplit, needsAccounts }: Overlay): readonly Account[] {
  return [
    {
      namespace,
      name: 'core-admin',
      needs: [
        { verb: 'watch', group: rukpak, resource: 'bundledeployments' },
        { verb: 'create', group: rukpak, resource: 'bundles' },
        { verb: 'patch', group: rukpak, resource: 'bundles', subresource: 'status' },
        { verb: 'get', group: '', resource: 'secrets', namespace },
        leaseOf(namespace, 'core.rukpak.io'),
        ...(needsAccounts ? [] : installing),
        ...asking,
        { verb: 'get', path: '/bundles/any.tgz' },
      ],
    },
    ...(isSplit ? [unpackingAccount(namespace)] : []),
    {
      namespace,
      name: 'rukpak-webhooks-admin',
      needs: [
        { verb: 'watch', group: '', resource: 'configmaps', namespace },
        { verb: 'watch', group: rukpak, resource: 'bundles' },
        { verb: 'watch', group: rukpak, resource: 'bundledeployments' },
        { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' },
      ],
    },
    {
      namespace: crdNamespace,
      name: 'crd-validation-webhook',
      needs: [
        { verb: 'watch', group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
      ],
    },
  ];
}

/** Of the content server: who a caller is, and whether the caller may read. */
const asking: readonly Attributes[] = [
  { verb: 'create', group: 'authentication.k8s.io', resource: 'tokenreviews' },
  { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' },
];

/** The account of Deployment `core` in overlay split. */
function unpackingAccount(namespace: string): Account {
  return {
    namespace,
    name: 'core-unpack',
    needs: [
      { verb: 'watch', group: rukpak, resource: 'bundledeployments' },
      { verb: 'patch', group: rukpak, resource: 'bundles' },
      { verb: 'patch', group: rukpak, resource: 'bundles', subresource: 'status' },
      leaseOf(namespace, unpackLease),
      ...asking,
    ],
  };
}

function leaseOf(namespace: string, name: string): Attributes {
  return { verb: 'update', group: 'coordination.k8s.io', resource: 'leases', namespace, name };
}
