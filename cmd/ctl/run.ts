import { Argument, Command } from 'commander';
import type { JsonObject } from '../../api/json.ts';
import { defaultLimits } from '../../core/content/index.ts';
import { registryClass } from '../../provisioners/class-of-content.ts';
import { addClassFlags, type ClassFlags } from './class-flags.ts';
import { classWarning } from './class-warning.ts';
import { addClusterFlags, type ClusterFlags, namespaceOption } from './cluster-flags.ts';
import { addConfigFlag, type ConfigFlags, deploymentConfig } from './config-flag.ts';
import { loadDirectory } from './load-directory.ts';
import { type OutputFlags, outputOption, Report } from './output.ts';
import { progressOn } from './progress.ts';
import type { RunContext, RunRequest } from './run-bundle.ts';
import { addUploadFlags, type UploadFlags } from './server-flags.ts';
import { warningLogger } from './warning-logger.ts';

interface RunFlags extends ClusterFlags, UploadFlags, ClassFlags, ConfigFlags, OutputFlags {
  readonly namespace?: string;
  readonly wait?: true;
}

/** `rukpakctl run`: a BundleDeployment from a directory. */
export function runCommand(): Command {
  const command = new Command('run')
    .addArgument(new Argument('<bundleDeploymentName>', 'made where there is none of the name'))
    .addArgument(new Argument('<bundleDir>', 'directory that holds the bundle'))
    .addOption(
      namespaceOption(
        'namespace to install into: of objects that name none, and of an operator’s (default: that of core, or the one that an operator suggests)',
      ),
    )
    .option('--wait', 'end only when it is installed, and healthy where that is reported');
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
      ...placed(config, flags),
      deploymentClass: flags.bundleDeploymentProvisionerClass,
      bundleClass,
      server: flags,
      timeout: flags.timeout,
      isRemovedOnFailure: true,
      onApplied: () => report.line(`bundledeployment.core.rukpak.io "${name}" applied`),
    };
    const context = { cluster, progress: progressOn(process.stderr), signal: cluster.signal };
    const done = await runBundle(request, context);
    await report.line(
      done.result === 'uploaded'
        ? `successfully uploaded bundle content for "${done.bundle}"`
        : `bundle "${done.bundle}" is already up-to-date`,
    );
    if (flags.wait === true) {
      await awaitInstalled(name, flags, context);
      await report.line(`bundledeployment.core.rukpak.io "${name}" is installed`);
    }
    return done;
  });
  await report.result(result);
}

async function awaitInstalled(
  name: string,
  { timeout }: RunFlags,
  { cluster, progress, signal }: RunContext,
): Promise<void> {
  const { awaitGood } = await import('./deployments/await-good.ts');
  await progress(`waiting for "${name}"`, () =>
    awaitGood(cluster.client, { name, timeout, signal }),
  );
}

/** An operator's namespace is part of its config; of all else, of the deployment. */
function placed(
  config: JsonObject | undefined,
  { namespace, bundleProvisionerClass }: RunFlags,
): Pick<RunRequest, 'config' | 'installNamespace'> {
  const written = config === undefined ? {} : { config };
  if (namespace === undefined) return written;
  return bundleProvisionerClass === registryClass
    ? { config: { ...config, installNamespace: namespace } }
    : { ...written, installNamespace: namespace };
}
