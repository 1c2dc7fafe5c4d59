import { Argument, Command } from 'commander';
import { defaultLimits } from '../../core/content/limits.ts';
import { stopSignal } from '../../core/manager/defaults/stop-signal.ts';
import { addClassFlags, type ClassFlags } from './class-flags.ts';
import { classWarning } from './class-warning.ts';
import { addClusterFlags, type ClusterFlags } from './cluster-flags.ts';
import { addConfigFlag, type ConfigFlags, deploymentConfig } from './config-flag.ts';
import { loadDirectory } from './load-directory.ts';
import { type OutputFlags, outputOption, Report } from './output.ts';
import { progressOn } from './progress.ts';
import { addUploadFlags, type UploadFlags } from './server-flags.ts';
import { warningLogger } from './warning-logger.ts';

interface RunFlags extends ClusterFlags, UploadFlags, ClassFlags, ConfigFlags, OutputFlags {}

/** `rukpakctl run`: a BundleDeployment from a directory (spec section 13). */
export function runCommand(): Command {
  const command = new Command('run')
    .description('run the bundle of a directory as a BundleDeployment: apply it, and upload it')
    .addArgument(new Argument('<bundleDeploymentName>', 'made where there is none of the name'))
    .addArgument(new Argument('<bundleDir>', 'directory that holds the bundle'));
  return addConfigFlag(addClassFlags(addUploadFlags(addClusterFlags(command))))
    .addOption(outputOption())
    .action(run);
}

async function run(name: string, directory: string, flags: RunFlags): Promise<void> {
  const files = loadDirectory(directory, defaultLimits);
  const config = await deploymentConfig(flags);
  const bundleClass = flags.bundleProvisionerClass;
  const warning = classWarning({ files, bundleClass, hasConfig: config !== undefined });
  if (warning !== undefined) warningLogger.warn({}, warning);
  // Slow to load, and not needed to say that the directory is not there.
  const [{ withCluster }, { runBundle }] = await Promise.all([
    import('./cluster.ts'),
    import('./run-bundle.ts'),
  ]);
  const report = new Report(flags);
  const result = await withCluster(flags, async (cluster) => {
    const request = {
      name,
      files,
      ...(config === undefined ? {} : { config }),
      deploymentClass: flags.bundleDeploymentProvisionerClass,
      bundleClass,
      server: flags,
      timeout: flags.timeout,
      onApplied: () => report.line(`bundledeployment.core.rukpak.io "${name}" applied`),
    };
    const context = { cluster, progress: progressOn(process.stderr), signal: stopSignal() };
    return await runBundle(request, context);
  });
  const { bundle } = result;
  await report.line(
    result.result === 'uploaded'
      ? `successfully uploaded bundle content for "${bundle}"`
      : `bundle "${bundle}" is already up-to-date`,
  );
  await report.result(result);
}
