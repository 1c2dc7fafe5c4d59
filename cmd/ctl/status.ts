import { Argument, Command } from 'commander';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../api/v1alpha1/resources.ts';
import { listAll } from '../../core/kube/list-all.ts';
import { stopSignal } from '../../core/manager/defaults/stop-signal.ts';
import type { Cluster } from './cluster.ts';
import { addClusterFlags, type ClusterFlags } from './cluster-flags.ts';
import { type OutputFlags, outputOption, Report } from './output.ts';
import { progressOn } from './progress.ts';
import { advice } from './status/advice.ts';
import { deploymentState, isGood } from './status/deployment-state.ts';
import type { StatusReport } from './status/status-report.ts';
import { statusTree } from './status/status-tree.ts';
import { tableLines, treeLines } from './status/tree.ts';

interface StatusFlags extends ClusterFlags, OutputFlags {
  readonly systemNamespace: string;
  readonly allObjects?: true;
  readonly exitCode?: true;
}

/** `rukpakctl status`: what became of a BundleDeployment, and why. */
export function statusCommand(): Command {
  const command = new Command('status')
    .description(
      'show a BundleDeployment with its Bundles and objects, or list all with their state',
    )
    .addArgument(new Argument('[bundleDeploymentName]', 'all BundleDeployments where absent'))
    .option('--system-namespace <name>', 'namespace that the core runs in', 'rukpak-system')
    .option('--all-objects', 'list healthy objects too where there are more than 50 objects')
    .option('--exit-code', 'exit with 1 unless installed, and healthy where that is reported');
  return addClusterFlags(command).addOption(outputOption()).action(status);
}

async function status(name: string | undefined, flags: StatusFlags): Promise<void> {
  const { withCluster } = await import('./cluster.ts');
  const report = new Report(flags);
  const good = await withCluster(flags, (cluster) =>
    name === undefined ? listStates(cluster, report) : showOne(cluster, { name, flags, report }),
  );
  if (flags.exitCode === true && !good) process.exitCode = 1;
}

interface OneStatus {
  readonly name: string;
  readonly flags: StatusFlags;
  readonly report: Report;
}

async function showOne(cluster: Cluster, { name, flags, report }: OneStatus): Promise<boolean> {
  const { statusReport } = await import('./status/status-report.ts');
  const { systemNamespace, allObjects = false } = flags;
  const signal = stopSignal();
  const found = await progressOn(process.stderr)(`looking at "${name}"`, () =>
    statusReport(cluster, { name, systemNamespace, signal }),
  );
  const next = advice(found, Date.now());
  await report.lines([
    ...treeLines(statusTree(found, { allObjects })),
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

async function listStates({ client }: Cluster, report: Report): Promise<boolean> {
  const { items } = await listAll(client, bundleDeploymentResource, {
    transform: (item) => item as BundleDeployment,
    signal: stopSignal(),
  });
  const rows = items.map((deployment) => {
    const { state, reason } = deploymentState(deployment);
    const active = deployment.status?.activeBundle ?? '';
    return [deployment.metadata.name ?? '', state, active === '' ? '-' : active, reason];
  });
  const table = [['NAME', 'STATE', 'ACTIVE BUNDLE', 'REASON'], ...rows];
  const lines = items.length === 0 ? ['there are no BundleDeployments'] : tableLines(table);
  await report.lines(lines);
  await report.result({ bundleDeployments: items.map(summaryOf) });
  return items.every(isGood);
}
