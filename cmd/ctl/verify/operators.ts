import { catalogCRD } from '../../../api/catalogd/v1alpha1/crd.ts';
import { installerLabel } from '../../../api/crd/custom-resource-definition.ts';
import { fieldAt, listOf } from '../../../api/json-fields.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { clusterCatalogCRD, clusterExtensionCRD } from '../../../api/olm/v1/crd.ts';
import { operatorCRD } from '../../../api/operators/v1alpha1/crd.ts';
import {
  definitionResource,
  deploymentResource,
  liveObject,
} from '../../../core/platform/kube/index.ts';
import { leaseResource } from '../../../core/platform/runtime/index.ts';
import { type Check, failed, ok, skipped, type VerifyContext, warning } from './check.ts';
import { definitionCheck } from './definitions.ts';
import { type Account, accountCheck, refusedTo } from './permissions.ts';
import { deploymentCheck, leaseCheck } from './processes.ts';

const cure =
  'run "rukpak install --operators", or apply an overlay with component operators, of this version';

const dependencyFlag = '--install-dependencies';
const dependencyCure =
  'apply your overlay with component install-dependencies, or run "rukpak install --operators --install-dependencies"';

const processName = 'rukpak-operators';
const leaseName = 'operators.rukpak.io';

/** Checks the part for OLM 1.0, if this project installed its CRDs: another project may own them. */
export async function operatorChecks(context: VerifyContext): Promise<readonly Check[]> {
  const { cluster, signal } = context;
  const definitions: (readonly [KubernetesObject, KubernetesObject | undefined])[] = [];
  for (const expected of [
    catalogCRD(),
    operatorCRD(),
    clusterCatalogCRD(),
    clusterExtensionCRD(),
  ]) {
    const key = { name: expected.metadata.name ?? '' };
    const target = { resource: definitionResource, key };
    definitions.push([expected, await liveObject(cluster.client, target, signal)]);
  }
  if (!definitions.some(([, live]) => isOurs(live))) {
    return [skipped('OLM 1.0', 'is not installed (it is optional)')];
  }
  const deployment = await deploymentIn(context);
  return [
    ...definitions.map(([expected, live]) => definitionCheck(expected, live, cure)),
    await accountCheck(context, accountIn(context.systemNamespace), cure),
    await dependencyCheck(context, deployment),
    ...(await processChecks(context, deployment)),
  ];
}

function isOurs(live: KubernetesObject | undefined): boolean {
  return live?.metadata.labels?.[installerLabel.key] === installerLabel.value;
}

/** Outside the cluster there is none. */
async function deploymentIn({
  cluster,
  signal,
  systemNamespace: namespace,
}: VerifyContext): Promise<KubernetesObject | undefined> {
  const target = { resource: deploymentResource, key: { namespace, name: processName } };
  return await liveObject(cluster.client, target, signal);
}

/** Outside the cluster it may run without a Lease. */
async function processChecks(
  { cluster: { client }, signal, systemNamespace: namespace }: VerifyContext,
  deployment: KubernetesObject | undefined,
): Promise<readonly Check[]> {
  const key = { namespace, name: processName };
  const place = { resource: leaseResource, key: { namespace, name: leaseName } };
  const lease = await liveObject(client, place, signal);
  const leader = { name: leaseName, process: processName, isInCluster: deployment !== undefined };
  return [deploymentCheck(key, deployment), leaseCheck(lease, leader, Date.now())];
}

/** Whether the process may do what its flag --install-dependencies needs, and no more without it. */
async function dependencyCheck(
  context: VerifyContext,
  deployment: KubernetesObject | undefined,
): Promise<Check> {
  const { systemNamespace: namespace } = context;
  const operators = { group: 'operators.operatorframework.io', resource: 'operators' };
  const needs = ['create', 'delete'].map((verb) => ({ verb, ...operators }));
  const refused = await refusedTo(context, { namespace, name: processName, needs });
  return dependencyPermissions({ namespace, deployment, refused, asked: needs.length });
}

interface DependencyPermissions {
  readonly namespace: string;
  readonly deployment: KubernetesObject | undefined;
  /** `create operators.operators.operatorframework.io` */
  readonly refused: readonly string[];
  readonly asked: number;
}

/** Pure. */
export function dependencyPermissions({
  namespace,
  deployment,
  refused,
  asked,
}: DependencyPermissions): Check {
  const subject = `ServiceAccount ${namespace}/${processName}, ${dependencyFlag}`;
  const args = listOf(
    fieldAt(listOf(fieldAt(deployment?.['spec'], 'template', 'spec', 'containers'))[0], 'args'),
  );
  const isGranted = refused.length < asked;
  if (args.includes(dependencyFlag)) {
    return refused.length === 0
      ? ok(subject, `permissions asked about: ${asked}, all granted`)
      : failed(subject, `may not ${refused.join(', ')}`, dependencyCure);
  }
  if (!isGranted) return ok(subject, 'is not used, and its permissions are not granted');
  if (deployment === undefined) return ok(subject, 'its permissions are granted');
  return warning(
    subject,
    'is not used, but its permissions are granted',
    'kubectl delete clusterrolebinding,clusterrole rukpak-operators-dependencies',
  );
}

function accountIn(namespace: string): Account {
  const extensions = { group: 'olm.operatorframework.io', resource: 'clusterextensions' };
  const deployments = { group: 'core.rukpak.io', resource: 'bundledeployments' };
  const leases = { group: 'coordination.k8s.io', resource: 'leases' };
  const lease = { ...leases, namespace, name: leaseName };
  return {
    namespace,
    name: processName,
    needs: [
      { verb: 'watch', group: 'catalogd.operatorframework.io', resource: 'catalogs' },
      { verb: 'watch', group: 'operators.operatorframework.io', resource: 'operators' },
      { verb: 'watch', ...extensions },
      { verb: 'patch', ...extensions, subresource: 'status' },
      { verb: 'create', ...deployments },
      { verb: 'patch', ...deployments },
      { verb: 'impersonate', group: '', resource: 'serviceaccounts' },
      { verb: 'get', group: '', resource: 'secrets', namespace },
      { verb: 'update', ...lease },
    ],
  };
}
