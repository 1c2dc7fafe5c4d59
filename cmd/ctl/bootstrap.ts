import { buffer } from 'node:stream/consumers';
import { Argument, Command } from 'commander';
import { installNamespaceOf } from '../../api/v1alpha1/rules/install-namespace.ts';
import { TerminalError } from '../../core/errors.ts';
import { distinctObjects } from '../../core/manifests/index.ts';
import { BundleFilesBuilder, defaultLimits, readPlainBundle } from '../../core/sdk.ts';
import { helpCommand } from '../help-command.ts';
import {
  addOwnClusterFlags,
  addUploadFlags,
  type ClusterFlags,
  type UploadFlags,
} from './flags.ts';
import { type OutputFlags, outputOption, progressOn, Report } from './output/output.ts';

/** `rukpakctl alpha`: commands that may still change; hidden in the help. */
export function alphaCommand(): Command {
  return new Command('alpha').addCommand(bootstrapCommand()).addCommand(helpCommand());
}

interface BootstrapFlags extends ClusterFlags, UploadFlags, OutputFlags {}

const plain = 'core-rukpak-io-plain';

/** `rukpakctl alpha bootstrap`: applies objects, and then creates their BundleDeployment. */
function bootstrapCommand(): Command {
  const command = new Command('bootstrap')
    .description(
      'Apply the manifests of standard input, and create a BundleDeployment that adopts the objects',
    )
    .addArgument(
      new Argument(
        '<bundleDeploymentName>',
        'Name of the BundleDeployment; created if it does not exist',
      ),
    );
  return addUploadFlags(addOwnClusterFlags(command)).addOption(outputOption()).action(bootstrap);
}

async function bootstrap(name: string, flags: BootstrapFlags): Promise<void> {
  if (process.stdin.isTTY) throw new TerminalError('the manifests are read from standard input');
  const [{ withCluster }, { kubeconfigCaller }, { runBundle, uploadTarget }, { applyAsRelease }] =
    await Promise.all([
      import('./cluster.ts'),
      import('./server/content-server.ts'),
      import('./server/run-bundle.ts'),
      import('./deployments/bootstrap-objects.ts'),
    ]);
  const builder = new BundleFilesBuilder(defaultLimits);
  builder.addFile('manifests/manifests.yaml', await buffer(process.stdin));
  const files = builder.build();
  const objects = distinctObjects(readPlainBundle(files));
  const { systemNamespace, timeout } = flags;
  const progress = progressOn(process.stderr);
  const report = new Report(flags);
  const result = await withCluster(flags, async (cluster) => {
    const { signal } = cluster;
    // Before anything is applied for it.
    await kubeconfigCaller(cluster);
    const before = await uploadTarget(name, { cluster, signal });
    const installNamespace =
      before === undefined ? systemNamespace : installNamespaceOf(before, systemNamespace);
    const used = await progress(`applying ${objects.length} objects`, () =>
      applyAsRelease(objects, { name, systemNamespace, installNamespace, signal }, cluster),
    );
    await report.lines(
      used.map(
        (namespace) =>
          `Namespace "${namespace}" exists: it stays as it is, and is no part of BundleDeployment "${name}"`,
      ),
    );
    const classes = { deploymentClass: plain, bundleClass: plain };
    // The objects exist, and the deployment owns them.
    const isRemovedOnFailure = false;
    const request = { name, files, ...classes, server: flags, timeout, isRemovedOnFailure };
    return await runBundle(request, { cluster, progress, signal });
  });
  await report.line(
    result.result === 'uploaded'
      ? `successfully bootstrapped bundle deployment "${name}"`
      : `bundle deployment "${name}" is already up-to-date`,
  );
  await report.result(result);
}
