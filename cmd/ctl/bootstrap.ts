import { buffer } from 'node:stream/consumers';
import { Argument, Command } from 'commander';
import { TerminalError } from '../../core/errors.ts';
import { distinctObjects } from '../../core/manifests/index.ts';
import { BundleFilesBuilder, defaultLimits, readPlainBundle } from '../../core/sdk.ts';
import { addClusterFlags, type ClusterFlags } from './cluster-flags.ts';
import { type OutputFlags, outputOption, Report } from './output.ts';
import { progressOn } from './progress.ts';
import { addUploadFlags, type UploadFlags } from './server-flags.ts';

interface BootstrapFlags extends ClusterFlags, UploadFlags, OutputFlags {}

const plain = 'core-rukpak-io-plain';

/** `rukpakctl alpha bootstrap`: objects now, their BundleDeployment after them. */
export function bootstrapCommand(): Command {
  const command = new Command('bootstrap')
    .description(
      'apply the manifests of standard input, and have a BundleDeployment of them take them over',
    )
    .addArgument(new Argument('<bundleDeploymentName>', 'made where there is none of the name'));
  return addUploadFlags(addClusterFlags(command)).addOption(outputOption()).action(bootstrap);
}

async function bootstrap(name: string, flags: BootstrapFlags): Promise<void> {
  if (process.stdin.isTTY) throw new TerminalError('the manifests are read from standard input');
  const [{ withCluster }, { runBundle }, { applyAsRelease }] = await Promise.all([
    import('./cluster.ts'),
    import('./run-bundle.ts'),
    import('./bootstrap-objects.ts'),
  ]);
  const builder = new BundleFilesBuilder(defaultLimits);
  builder.addFile('manifests/manifests.yaml', await buffer(process.stdin));
  const files = builder.build();
  const objects = distinctObjects(readPlainBundle(files));
  const { systemNamespace, timeout } = flags;
  const progress = progressOn(process.stderr);
  const result = await withCluster(flags, async (cluster) => {
    const { signal } = cluster;
    await progress(`applying ${objects.length} objects`, () =>
      applyAsRelease(objects, { name, systemNamespace, signal }, cluster),
    );
    const classes = { deploymentClass: plain, bundleClass: plain };
    // The objects are there, and the deployment owns them.
    const isRemovedOnFailure = false;
    const request = { name, files, ...classes, server: flags, timeout, isRemovedOnFailure };
    return await runBundle(request, { cluster, progress, signal });
  });
  const report = new Report(flags);
  await report.line(
    result.result === 'uploaded'
      ? `successfully bootstrapped bundle deployment "${name}"`
      : `bundle deployment "${name}" is already up-to-date`,
  );
  await report.result(result);
}
