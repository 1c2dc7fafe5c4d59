import { Argument, Command } from 'commander';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { Cluster } from '../cluster.ts';
import {
  addDeletionFlags,
  confirmDeletion,
  type DeletionFlags,
  deletionLines,
} from '../deployments/deletion-dialogue.ts';
import { checkNotMadeAgain } from '../deployments/maker.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { outputOption, progressOn, Report } from '../output/output.ts';
import { visibleLine } from '../terminal/text.ts';

interface UninstallFlags extends ClusterFlags, DeletionFlags {}

/** `rukpakctl uninstall`: deletes a BundleDeployment, after listing what is deleted with it. */
export function uninstallCommand(): Command {
  const command = new Command('uninstall').addArgument(
    new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment'),
  );
  return addClusterFlags(addDeletionFlags(command)).addOption(outputOption()).action(uninstall);
}

async function uninstall(name: string, flags: UninstallFlags): Promise<void> {
  const { withCluster } = await import('../cluster.ts');
  const warnings = new Set<string>();
  const onWarning = (warning: string): void => {
    if (warnings.has(warning)) return;
    warnings.add(warning);
    process.stderr.write(`Warning: ${visibleLine(warning)}\n`);
  };
  await withCluster(flags, (cluster) => removed(cluster, { name, flags, warnings }), onWarning);
}

interface Removal {
  readonly name: string;
  readonly flags: UninstallFlags;
  readonly warnings: ReadonlySet<string>;
}

async function removed(cluster: Cluster, { name, flags, warnings }: Removal): Promise<void> {
  const [{ foreseeDeletion }, { awaitGone }] = await Promise.all([
    import('../deployments/foreseen-deletion.ts'),
    import('../deployments/awaiting.ts'),
  ]);
  const report = new Report(flags);
  const { systemNamespace, timeout } = flags;
  const { signal } = cluster;
  const progress = progressOn(process.stderr);
  const foreseen = await progress(`looking at "${name}"`, () =>
    foreseeDeletion(cluster, { name, systemNamespace, signal }),
  );
  const { deployment, deletes, keeps, hidden, hooks } = foreseen;
  checkNotMadeAgain(deployment);
  const nothing = deletes.length === 0 ? ', which has installed nothing that goes with it' : '';
  const title = `BundleDeployment "${name}" is deleted${nothing || ', and with it:'}`;
  await report.lines([title, ...deletionLines(foreseen, flags.output === 'wide')]);
  const told = [...warnings];
  const result = { bundleDeployment: name, deletes, keeps, hidden, hooks, warnings: told };
  if (flags.dryRun === true) return await report.result({ ...result, deleted: false });
  await confirmDeletion(name, flags, signal);
  const { uid = '' } = deployment.metadata;
  await cluster.client.delete(bundleDeploymentResource, { name }, { uid, signal });
  await progress(`waiting until "${name}" is gone`, () =>
    awaitGone(cluster.client, { deployment, timeout, signal }),
  );
  await report.line(`bundledeployment.core.rukpak.io "${name}" deleted`);
  await report.result({ ...result, deleted: true });
}
