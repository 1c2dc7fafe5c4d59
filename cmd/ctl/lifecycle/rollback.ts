import { Argument, Command } from 'commander';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { durationOption } from '../../flags/flag-values.ts';
import type { Cluster } from '../cluster.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';

interface RollbackFlags extends ClusterFlags, OutputFlags {
  readonly to?: string;
  readonly wait?: true;
  /** Milliseconds. */
  readonly timeout: number;
}

/** `rukpakctl rollback`: puts the template of an earlier revision back into a BundleDeployment. */
export function rollbackCommand(): Command {
  const command = new Command('rollback')
    .addArgument(new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment'))
    .option(
      '--to <bundle>',
      'Bundle to roll back to, one that rukpakctl history lists (default: the last healthy Bundle)',
    )
    .option('--wait', 'Wait until it is installed, and healthy if core reports health')
    .addOption(durationOption('--timeout', 'Maximum time for --wait', '5m'));
  return addClusterFlags(command).addOption(outputOption()).action(rollback);
}

async function rollback(name: string, flags: RollbackFlags): Promise<void> {
  const { withCluster } = await import('../cluster.ts');
  const report = new Report(flags);
  await withCluster(flags, (cluster) => putBack(cluster, { name, flags, report }));
}

interface PutBack {
  readonly name: string;
  readonly flags: RollbackFlags;
  readonly report: Report;
}

async function putBack(
  { client, signal }: Cluster,
  { name, flags, report }: PutBack,
): Promise<void> {
  const [
    { checkOwnTemplate },
    { chooseRevision, setTemplate },
    { templateBundle },
    { awaitBundle },
  ] = await Promise.all([
    import('../deployments/maker.ts'),
    import('../deployments/revisions.ts'),
    import('../status/deployment-state.ts'),
    import('../deployments/awaiting.ts'),
  ]);
  const live = await client.get(bundleDeploymentResource, { name }, signal);
  const deployment = live as BundleDeployment;
  checkOwnTemplate(deployment);
  const from = templateBundle(deployment);
  const { revision, template } = chooseRevision(deployment, flags.to);
  const changed = await setTemplate(client, { deployment, template, signal });
  const bundle = templateBundle(changed);
  await report.line(
    `bundledeployment.core.rukpak.io "${name}" changed: core rolls back from Bundle "${from}" to "${bundle}" (revision ${revision})`,
  );
  if (deployment.spec.paused === true) {
    await report.line(`it is paused: core rolls back after "rukpakctl resume ${name}"`);
  }
  if (flags.wait === true) {
    await progressOn(process.stderr)(`waiting for Bundle "${bundle}"`, () =>
      awaitBundle(client, { name, bundle, timeout: flags.timeout, signal }),
    );
    await report.line(
      `bundledeployment.core.rukpak.io "${name}" rolled back: Bundle "${bundle}" is installed`,
    );
  }
  await report.result({ bundleDeployment: name, from, bundle, revision });
}
