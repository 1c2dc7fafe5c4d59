import { Argument, Command } from 'commander';
import { defaultLimits } from '../../core/content/index.ts';
import type { BundleFiles } from '../../core/sdk.ts';
import { classNameOf, plainClass } from '../../provisioners/class-of-content.ts';
import { loadDirectory } from './content/load-content.ts';
import {
  addConfigFlag,
  addOwnClusterFlags,
  addUploadFlags,
  type ClusterFlags,
  type ConfigFlags,
  deploymentConfig,
  namespaceOption,
  type UploadFlags,
} from './flags.ts';
import { warningLogger } from './output/loggers.ts';
import { type OutputFlags, outputOption, progressOn, Report } from './output/output.ts';
import type { NamedClasses } from './server/earlier-run.ts';
import type { RunContext } from './server/run-bundle.ts';

interface RunFlags extends ClusterFlags, UploadFlags, ClassFlags, ConfigFlags, OutputFlags {
  readonly namespace?: string;
  readonly wait?: true;
}

/** `rukpakctl run`: creates a BundleDeployment from a directory. */
export function runCommand(): Command {
  const command = new Command('run')
    .addArgument(
      new Argument(
        '<bundleDeploymentName>',
        'Name of the BundleDeployment; created if it does not exist',
      ),
    )
    .addArgument(new Argument('<bundleDir>', 'Directory that contains the bundle'))
    .addOption(
      namespaceOption(
        'Namespace for objects without a namespace, and install namespace of an operator (default: core’s namespace, or the one that the operator suggests)',
      ),
    )
    .option('--wait', 'Wait until it is installed, and healthy if core reports health');
  return addConfigFlag(addClassFlags(addUploadFlags(addOwnClusterFlags(command))))
    .addOption(outputOption())
    .action(run);
}

async function run(name: string, directory: string, flags: RunFlags): Promise<void> {
  const files = loadDirectory(directory, defaultLimits);
  const config = await deploymentConfig(flags);
  const hasConfig = config !== undefined && Object.keys(config).length > 0;
  // Slow to load, and not needed to report a missing directory.
  const [{ withCluster }, { runBundle }] = await Promise.all([
    import('./cluster.ts'),
    import('./server/run-bundle.ts'),
  ]);
  const report = new Report(flags);
  const result = await withCluster(flags, async (cluster) => {
    const request = {
      name,
      files,
      ...(config === undefined ? {} : { config }),
      namespace: flags.namespace,
      ...classesIn(flags),
      server: flags,
      timeout: flags.timeout,
      isRemovedOnFailure: true,
      onClass: (bundleClass: string) => {
        const warning = classWarning({ files, bundleClass, hasConfig });
        if (warning !== undefined) warningLogger.warn({}, warning);
      },
      onApplied: async (kept: readonly string[]) => {
        const subject = `bundledeployment.core.rukpak.io "${name}"`;
        await report.lines([`${subject} applied`, ...kept.map((what) => `${subject} ${what}`)]);
      },
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
  const { awaitGood } = await import('./deployments/awaiting.ts');
  await progress(`waiting for "${name}"`, () =>
    awaitGood(cluster.client, { name, timeout, signal }),
  );
}

/** The classes of a BundleDeployment with uploaded content. */
interface ClassFlags {
  readonly bundleDeploymentProvisionerClass?: string;
  readonly bundleProvisionerClass?: string;
}

function addClassFlags(command: Command): Command {
  const otherwise = `an existing BundleDeployment keeps its class (default: "${plainClass}")`;
  return command
    .option(
      '--bundle-deployment-provisioner-class <name>',
      `Class that applies the content; ${otherwise}`,
    )
    .option('--bundle-provisioner-class <name>', `Class that unpacks the content; ${otherwise}`);
}

function classesIn({
  bundleProvisionerClass: bundleClass,
  bundleDeploymentProvisionerClass: deploymentClass,
}: ClassFlags): NamedClasses {
  return {
    ...(bundleClass === undefined ? {} : { bundleClass }),
    ...(deploymentClass === undefined ? {} : { deploymentClass }),
  };
}

interface Upload {
  readonly files: BundleFiles;
  /** The class that will unpack it. */
  readonly bundleClass: string;
  readonly hasConfig: boolean;
}

/** A warning about a probable mistake in content uploaded as plain; undefined without one. */
export function classWarning({ files, bundleClass, hasConfig }: Upload): string | undefined {
  if (bundleClass !== plainClass) return undefined;
  const likely = classNameOf(files);
  if (likely !== plainClass) {
    return `the directory looks like content of class ${likely}: --bundle-provisioner-class ${likely} unpacks it as that`;
  }
  return hasConfig
    ? '--config: plain content is applied as written, whatever spec.config has'
    : undefined;
}
