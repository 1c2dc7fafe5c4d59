import { catalogCRD } from '../../../api/catalogd/v1alpha1/crd.ts';
import { installerLabel } from '../../../api/custom-resource-definition.ts';
import type { KubernetesObject } from '../../../api/meta.ts';
import { clusterCatalogCRD, clusterExtensionCRD } from '../../../api/olm/v1/crd.ts';
import { operatorCRD } from '../../../api/operators/v1alpha1/crd.ts';
import { definitionResource, liveObject } from '../../../core/platform/kube/index.ts';
import { leaseResource } from '../../../core/platform/runtime/index.ts';
import { type Check, deploymentResource, skipped, type VerifyContext } from './check.ts';
import { definitionCheck } from './definitions.ts';
import { type Account, accountCheck } from './permissions.ts';
import { deploymentCheck, leaseCheck } from './processes.ts';

const cure =
  'run "rukpak install --operators", or apply an overlay with component operators, of this version';

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
  return [
    ...definitions.map(([expected, live]) => definitionCheck(expected, live, cure)),
    await accountCheck(context, accountIn(context.systemNamespace), cure),
    ...(await processChecks(context)),
  ];
}

function isOurs(live: KubernetesObject | undefined): boolean {
  return live?.metadata.labels?.[installerLabel.key] === installerLabel.value;
}

/** Outside the cluster it has no Deployment, and may run without a Lease. */
async function processChecks({
  cluster: { client },
  signal,
  systemNamespace: namespace,
}: VerifyContext): Promise<readonly Check[]> {
  const key = { namespace, name: 'rukpak-operators' };
  const deployment = await liveObject(client, { resource: deploymentResource, key }, signal);
  const place = { resource: leaseResource, key: { namespace, name: leaseName } };
  const lease = await liveObject(client, place, signal);
  const leader = { name: leaseName, process: key.name, isInCluster: deployment !== undefined };
  return [deploymentCheck(key, deployment), leaseCheck(lease, leader, Date.now())];
}

function accountIn(namespace: string): Account {
  const extensions = { group: 'olm.operatorframework.io', resource: 'clusterextensions' };
  const deployments = { group: 'core.rukpak.io', resource: 'bundledeployments' };
  const leases = { group: 'coordination.k8s.io', resource: 'leases' };
  const lease = { ...leases, namespace, name: leaseName };
  return {
    namespace,
    name: 'rukpak-operators',
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
