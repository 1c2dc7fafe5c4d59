import { Argument, Command, InvalidArgumentError } from 'commander';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { Cluster } from '../cluster.ts';
import { addClusterFlags, type ClusterFlags, namespaceOption } from '../flags.ts';
import { type OutputFlags, outputOption, Report } from '../output/output.ts';
import { type TreeNode, treeLines } from '../terminal/tree.ts';
import type { Origin } from './origin.ts';

interface TraceFlags extends ClusterFlags, OutputFlags {
  readonly namespace?: string;
}

interface Named {
  readonly kind: string;
  readonly name: string;
}

/** `rukpakctl trace`: the BundleDeployment to which an object belongs. */
export function traceCommand(): Command {
  const command = new Command('trace')
    .addArgument(
      new Argument(
        '<kind/name>',
        'Object, such as pod/web-7d4-x2, deploy/web or crd/gizmos.example.com',
      ).argParser(kindAndName),
    )
    .addOption(namespaceOption('Namespace of the object (default: the context’s, else "default")'));
  return addClusterFlags(command).addOption(outputOption()).action(trace);
}

function kindAndName(text: string): Named {
  const [kind, name, ...rest] = text.split('/');
  if (kind && name && rest.length === 0) return { kind, name };
  throw new InvalidArgumentError('It must be KIND/NAME, such as pod/web-7d4-x2.');
}

async function trace(named: Named, flags: TraceFlags): Promise<void> {
  const { withCluster } = await import('../cluster.ts');
  const report = new Report(flags);
  await withCluster(flags, async (cluster) => {
    const origin = await originOfNamed(cluster, named, flags);
    const deployment = await deploymentOf(cluster, origin);
    await report.lines(treeLines(await originTree(origin, deployment), report.width));
    await report.result(await resultOf(origin, deployment));
  });
}

async function originOfNamed(
  cluster: Cluster,
  { kind, name }: Named,
  { namespace }: TraceFlags,
): Promise<Origin> {
  const { kindNamed, originOf } = await import('./origin.ts');
  const { signal } = cluster;
  const resource = await kindNamed(cluster.client, kind, signal);
  const place = namespace ?? cluster.config.namespace ?? 'default';
  const key = resource.namespaced ? { namespace: place, name } : { name };
  return await originOf(cluster, await cluster.client.get(resource, key, signal), signal);
}

/** @throws TerminalError when the object belongs to no deployment, or to a deleted one. */
async function deploymentOf(
  { client, signal }: Cluster,
  { chain, deployment: name, end }: Origin,
): Promise<BundleDeployment> {
  const [{ liveObject }, { pathOf }] = await Promise.all([
    import('../../../core/platform/kube/index.ts'),
    import('./origin.ts'),
  ]);
  const [object] = chain;
  const path = object === undefined ? '' : pathOf(object);
  if (name === undefined) throw new TerminalError(`${path} belongs to no BundleDeployment: ${end}`);
  const live = await liveObject(
    client,
    { resource: bundleDeploymentResource, key: { name } },
    signal,
  );
  if (live !== undefined) return live as BundleDeployment;
  throw new TerminalError(
    `${path} has the labels of BundleDeployment "${name}", which does not exist: no manager reconciles this object`,
  );
}

async function originTree({ chain }: Origin, deployment: BundleDeployment): Promise<TreeNode> {
  const [{ pathOf }, { stateOf }, { deploymentState }] = await Promise.all([
    import('./origin.ts'),
    import('./family-tree.ts'),
    import('../status/deployment-state.ts'),
  ]);
  const below = chain.filter(({ kind }) => kind !== bundleDeploymentResource.kind);
  const branch = below.reduce<TreeNode | undefined>((child, object) => {
    const { status, message } = stateOf(object, Date.now());
    return { cells: [pathOf(object), status, message], ...(child && { children: [child] }) };
  }, undefined);
  const { state, reason } = deploymentState(deployment);
  return {
    cells: [`BundleDeployment/${deployment.metadata.name}`, state, reason],
    ...(branch && { children: [branch] }),
  };
}

async function resultOf({ chain }: Origin, deployment: BundleDeployment): Promise<object> {
  const { deploymentState } = await import('../status/deployment-state.ts');
  return {
    bundleDeployment: deployment.metadata.name,
    ...deploymentState(deployment),
    chain: chain.map(({ apiVersion, kind, metadata }: KubernetesObject) => ({
      apiVersion,
      kind,
      ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
      name: metadata.name,
    })),
  };
}
