import { Argument, Command } from 'commander';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { type OutputFlags, outputOption, Report } from '../output/output.ts';
import { tableLines } from '../terminal/tree.ts';

interface HistoryFlags extends ClusterFlags, OutputFlags {}

/** `rukpakctl history`: the Bundles of a BundleDeployment, who applied them and when. */
export function historyCommand(): Command {
  const command = new Command('history').addArgument(
    new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment'),
  );
  return addClusterFlags(command).addOption(outputOption()).action(history);
}

async function history(name: string, flags: HistoryFlags): Promise<void> {
  const [{ withCluster }, { revisionRows }] = await Promise.all([
    import('../cluster.ts'),
    import('../deployments/revisions.ts'),
  ]);
  const report = new Report(flags);
  const live = await withCluster(flags, ({ client, signal }) =>
    client.get(bundleDeploymentResource, { name }, signal),
  );
  const deployment = live as BundleDeployment;
  const rows = revisionRows(deployment);
  await report.lines(
    rows.length === 0
      ? [`"${name}" keeps no revisions: set spec.revisionHistoryLimit or spec.rollback`]
      : tableLines(rows, report.width),
  );
  const { activeBundle, history: revisions = [] } = deployment.status ?? {};
  await report.result({ bundleDeployment: name, activeBundle, revisions });
}
