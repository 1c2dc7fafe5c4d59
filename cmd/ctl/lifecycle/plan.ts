import { Argument, Command } from 'commander';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import type { FullPlan } from '../../../core/bundle-deployment/index.ts';
import { TerminalError } from '../../../core/errors.ts';
import type { Cluster } from '../cluster.ts';
import {
  addOwnClusterFlags,
  addServerFlags,
  type ClusterFlags,
  type ServerFlags,
} from '../flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from '../output/output.ts';

interface PlanFlags extends ClusterFlags, ServerFlags, OutputFlags {
  readonly systemNamespace: string;
  readonly serviceName: string;
}

/** `rukpakctl plan`: the changes that wait for approval of a BundleDeployment. */
export function planCommand(): Command {
  const command = new Command('plan')
    .addArgument(new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment'))
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system')
    .option('--service-name <name>', 'Name of the content server’s Service', 'core');
  return addServerFlags(addOwnClusterFlags(command)).addOption(outputOption()).action(plan);
}

async function plan(name: string, flags: PlanFlags): Promise<void> {
  const [{ withCluster }, { planLines }] = await Promise.all([
    import('../cluster.ts'),
    import('../server/read-plan.ts'),
  ]);
  const report = new Report(flags);
  const found = await progressOn(process.stderr)(`reading the plan of "${name}"`, () =>
    withCluster(flags, (cluster) => waitingPlan(cluster, name, flags)),
  );
  await report.lines(planLines(found));
  await report.result(found);
}

async function waitingPlan(cluster: Cluster, name: string, flags: PlanFlags): Promise<FullPlan> {
  const { readPlan } = await import('../server/read-plan.ts');
  const { signal } = cluster;
  const live = await cluster.client.get(bundleDeploymentResource, { name }, signal);
  const { status } = live as BundleDeployment;
  if (status?.plan === undefined)
    throw new TerminalError(
      `BundleDeployment "${name}" has no plan that waits for approval: see "rukpakctl status ${name}"`,
    );
  const found = await readPlan(cluster, { deployment: name, server: flags, signal });
  if (found !== undefined) return found;
  throw new TerminalError(
    `core is recomputing the plan of "${name}": run the command again in a few seconds`,
  );
}
