import { Argument, Command } from 'commander';
import type { BundleDeployment } from '../../../api/v1alpha1/bundle-deployment.ts';
import { bundleDeploymentResource } from '../../../api/v1alpha1/resources.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { type OutputFlags, outputOption, Report } from '../output/output.ts';

interface PauseFlags extends ClusterFlags, OutputFlags {}

/** `rukpakctl pause`: core changes nothing for the BundleDeployment until `resume`. */
export function pauseCommand(): Command {
  return pausing('pause', true);
}

/** `rukpakctl resume`: ends a pause. */
export function resumeCommand(): Command {
  return pausing('resume', false);
}

function pausing(name: string, paused: boolean): Command {
  const command = new Command(name).addArgument(
    new Argument('<bundleDeploymentName>', 'Name of the BundleDeployment'),
  );
  return addClusterFlags(command)
    .addOption(outputOption())
    .action((deployment: string, flags: PauseFlags) => setPaused(deployment, paused, flags));
}

async function setPaused(name: string, paused: boolean, flags: PauseFlags): Promise<void> {
  const { withCluster } = await import('../cluster.ts');
  const report = new Report(flags);
  // Without a pause the field is absent, as before.
  const patch = { spec: { paused: paused ? true : null } };
  const target = { resource: bundleDeploymentResource, key: { name } };
  const changed = await withCluster(flags, async ({ client, signal }) => {
    const live = await client.get(bundleDeploymentResource, { name }, signal);
    if (((live as BundleDeployment).spec.paused === true) === paused) return false;
    await client.patch(target, patch, { type: 'merge', signal });
    return true;
  });
  const done = paused ? 'paused' : 'resumed';
  const already = paused ? 'is paused already' : 'is not paused';
  await report.line(`bundledeployment.core.rukpak.io "${name}" ${changed ? done : already}`);
  await report.result({ bundleDeployment: name, paused, changed });
}
