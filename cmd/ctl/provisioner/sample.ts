import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command } from 'commander';
import { TerminalError } from '../../../core/errors.ts';
import { durationOption } from '../../flags/flag-values.ts';
import type { Cluster } from '../cluster.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { progressOn, writeOutput } from '../output/output.ts';
import { statusTree } from '../status/status-tree.ts';
import { visibleText } from '../terminal/text.ts';
import { treeLines } from '../terminal/tree.ts';
import { devClusterFolder } from './project.ts';
import type { Sample } from './sample-objects.ts';

interface SampleFlags extends ClusterFlags {
  readonly systemNamespace: string;
  /** Milliseconds. */
  readonly timeout: number;
}

/** `rukpakctl provisioner sample`: applies a folder with content and its BundleDeployment. */
export function sampleCommand(): Command {
  const command = new Command('sample')
    .description('Deploy the sample of a class, and wait until it is installed and healthy')
    .addArgument(
      new Argument('[folder]', 'Folder with bundledeployment.yaml and content/').default('sample'),
    )
    .option('--system-namespace <name>', 'Namespace that core runs in', 'rukpak-system')
    .addOption(durationOption('--timeout', 'Maximum time to wait', '2m'));
  return addClusterFlags(command)
    .addHelpText('after', '\nWithout --kubeconfig, on the control plane of `provisioner dev`.')
    .action(sample);
}

async function sample(folder: string, flags: SampleFlags): Promise<void> {
  const [{ withCluster }, { readSample }] = await Promise.all([
    import('../cluster.ts'),
    import('./sample-objects.ts'),
  ]);
  const objects = readSample(folder, flags.systemNamespace);
  const lines = await withCluster(chosenCluster(flags), (cluster) =>
    deployed(objects, { cluster, flags }),
  );
  const output = [...lines, ...nextSteps(folder)].map((line) => `${visibleText(line)}\n`);
  await writeOutput(output, process.stdout);
}

interface Place {
  readonly cluster: Cluster;
  readonly flags: SampleFlags;
}

/** The result, as `rukpakctl status` prints it. */
async function deployed(objects: Sample, { cluster, flags }: Place): Promise<readonly string[]> {
  const [{ deploySample }, { statusReport }] = await Promise.all([
    import('./sample-objects.ts'),
    import('../status/status-report.ts'),
  ]);
  const { timeout, systemNamespace } = flags;
  const name = objects.deployment.metadata.name ?? '';
  const { signal } = cluster;
  await progressOn(process.stderr)(`waiting for "${name}"`, () =>
    deploySample(cluster.client, objects, { timeout, signal }),
  );
  const report = await statusReport(cluster, { name, systemNamespace, signal });
  return treeLines(statusTree(report, { allObjects: true }));
}

/**
 * Requires an explicit choice, so that the user's current kubeconfig context is never used by
 * accident.
 */
function chosenCluster(flags: SampleFlags): ClusterFlags {
  if (flags.kubeconfig !== undefined || flags.context !== undefined) return flags;
  const kubeconfig = join(devClusterFolder(process.cwd()), 'kubeconfig');
  if (existsSync(kubeconfig)) return { kubeconfig };
  throw new TerminalError(
    'no control plane of this project is up: run npm run dev in another terminal, or name a cluster with --kubeconfig',
  );
}

function nextSteps(folder: string): readonly string[] {
  return [
    '',
    'Next:',
    `  change src/class.ts and check again: rukpakctl provisioner dev renders everything again`,
    `  change a file in ${join(folder, 'content')} and run this again: an upgrade`,
  ];
}
