import { Argument, Command } from 'commander';
import { durationOption } from '../../flags/flag-values.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';

interface ApproveFlags extends ClusterFlags, OutputFlags {
  readonly digest?: string;
  readonly wait?: true;
  /** Milliseconds. */
  readonly timeout: number;
}

/** `rukpakctl approve`: approves exactly the plan that a BundleDeployment waits with. */
export function approveCommand(): Command {
  const command = new Command('approve')
    .addArgument(new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment'))
    .option(
      '--digest <digest>',
      'Digest of the plan to approve; the command fails if the current plan has another digest',
    )
    .option('--wait', 'Wait until core has applied the plan')
    .addOption(durationOption('--timeout', 'Maximum time for --wait', '5m'));
  return addClusterFlags(command).addOption(outputOption()).action(approve);
}

async function approve(name: string, flags: ApproveFlags): Promise<void> {
  const [{ withCluster }, { approvePlan, awaitApplied }, { planCounts }] = await Promise.all([
    import('../cluster.ts'),
    import('../deployments/approve-plan.ts'),
    import('../../../core/bundle-deployment/index.ts'),
  ]);
  const report = new Report(flags);
  const { digest } = flags;
  await withCluster(flags, async ({ client, signal }) => {
    const plan = await approvePlan(client, { name, digest, signal });
    await report.line(`plan ${plan.digest} of Bundle ${plan.bundle}: ${planCounts(plan)}`);
    await report.line(`bundledeployment.core.rukpak.io "${name}" approved`);
    if (flags.wait === true) {
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(flags.timeout)]);
      await progressOn(process.stderr)(`waiting for "${name}"`, () =>
        awaitApplied(client, { name, plan, signal: deadline }),
      );
      await report.line(`bundle "${plan.bundle}" is installed`);
    }
    const { bundle, digest: approved } = plan;
    await report.result({ bundleDeployment: name, bundle, digest: approved });
  });
}
