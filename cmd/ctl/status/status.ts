import { Argument, Command } from 'commander';
import { stringAt } from '../../../api/json-fields.ts';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { installNamespaceOf } from '../../../api/v1alpha1/rules/install-namespace.ts';
import type { Cluster } from '../cluster.ts';
import {
  addClusterFlags,
  type ClusterFlags,
  namespaceOption,
  repeated,
  type WatchFlag,
  watchOption,
} from '../flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';
import { tableLines, treeLines } from '../terminal/tree.ts';
import { deploymentState, isGood } from './deployment-state.ts';
import type { StatusReport } from './status-report.ts';

interface StatusFlags extends ClusterFlags, OutputFlags, WatchFlag {
  readonly systemNamespace: string;
  readonly namespace?: string;
  readonly allObjects?: true;
  readonly exitCode?: true;
}

/** `rukpakctl status`: the state of a BundleDeployment, and its reason. */
export function statusCommand(): Command {
  const command = new Command('status')
    .addArgument(
      new Argument('[bundleDeploymentName]', 'Name of the BundleDeployment (default: all)'),
    )
    .addOption(
      namespaceOption(
        'Show only BundleDeployments that install into this namespace; for a single BundleDeployment, only its objects in this namespace',
      ),
    )
    .addOption(watchOption('Show every change'))
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system')
    .option('--all-objects', 'List healthy objects even if there are more than 50 objects')
    .option('--exit-code', 'Exit with 1 unless installed, and healthy if core reports health');
  return addClusterFlags(command).addOption(outputOption()).action(status);
}

async function status(name: string | undefined, flags: StatusFlags): Promise<void> {
  const { withCluster } = await import('../cluster.ts');
  const { watch = false } = flags;
  const report = new Report(flags, { onlyNews: watch });
  let good = true;
  await withCluster(flags, (cluster) =>
    repeated({ watch, signal: cluster.signal }, async () => {
      good = await (name === undefined
        ? listStates(cluster, { flags, report })
        : showOne(cluster, { name, flags, report }));
    }),
  );
  if (flags.exitCode === true && !good) process.exitCode = 1;
}

interface Request {
  readonly flags: StatusFlags;
  readonly report: Report;
}

async function showOne(
  cluster: Cluster,
  { name, flags, report }: Request & { readonly name: string },
): Promise<boolean> {
  const [{ advice }, { statusReport }, { statusTree }] = await Promise.all([
    import('./advice.ts'),
    import('./status-report.ts'),
    import('./status-tree.ts'),
  ]);
  const { systemNamespace, namespace, allObjects = false } = flags;
  const { signal } = cluster;
  const found = await progressOn(process.stderr)(`looking at "${name}"`, () =>
    statusReport(cluster, { name, systemNamespace, namespace, signal }),
  );
  const next = advice(found, Date.now());
  await report.lines([
    ...treeLines(statusTree(found, { allObjects }), report.width),
    ...(next === undefined ? [] : [`Next: ${next}`]),
  ]);
  await report.result({
    ...summaryOf(found.deployment),
    ...detailsOf(found),
    ...(next && { next }),
  });
  return isGood(found.deployment);
}

function detailsOf({ deployment, bundles, objects }: StatusReport): object {
  return { conditions: deployment.status?.conditions ?? [], bundles, objects };
}

function summaryOf(deployment: BundleDeployment): object {
  const { metadata, spec, status } = deployment;
  return {
    name: metadata.name,
    class: spec.provisionerClassName,
    ...deploymentState(deployment),
    ...(status?.activeBundle === undefined ? {} : { activeBundle: status.activeBundle }),
  };
}

async function listStates(
  { client, signal }: Cluster,
  { flags, report }: Request,
): Promise<boolean> {
  const { listAll } = await import('../../../core/platform/kube/index.ts');
  const { namespace, systemNamespace } = flags;
  const all = await listAll(client, bundleDeploymentResource, {
    transform: (item) => item as BundleDeployment,
    signal,
  });
  const items = all.items.filter(
    (each) => namespace === undefined || placeOf(each, systemNamespace) === namespace,
  );
  const rows = items.map((deployment) => {
    const { state, reason } = deploymentState(deployment);
    const active = deployment.status?.activeBundle ?? '';
    return [deployment.metadata.name ?? '', state, active === '' ? '-' : active, reason];
  });
  const table = [['NAME', 'STATE', 'ACTIVE BUNDLE', 'REASON'], ...rows];
  const where = namespace === undefined ? '' : ` that install into namespace "${namespace}"`;
  const lines =
    items.length === 0
      ? [`there are no BundleDeployments${where}`]
      : tableLines(table, report.width);
  await report.lines(lines);
  await report.result({ bundleDeployments: items.map(summaryOf) });
  // A namespace that is named should have some: it may be mistyped.
  const hasNone = items.length === 0 && namespace !== undefined;
  return !hasNone && items.every(isGood);
}

/** The config of an operator or a chart names its namespace. */
function placeOf(deployment: BundleDeployment, systemNamespace: string): string {
  const { config } = deployment.spec;
  return (
    stringAt(config, 'installNamespace') ??
    stringAt(config, 'releaseNamespace') ??
    installNamespaceOf(deployment, systemNamespace)
  );
}
