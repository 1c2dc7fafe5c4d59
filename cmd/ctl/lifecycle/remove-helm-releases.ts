import { Argument, Command } from 'commander';
import { TerminalError } from '../../../core/errors.ts';
import { addClusterFlags, type ClusterFlags } from '../flags.ts';
import { type OutputFlags, outputOption, Report } from '../output/output.ts';

interface RemoveFlags extends ClusterFlags, OutputFlags {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly systemNamespace: string;
}

/** `rukpakctl remove-helm-releases`: deletes the last remains of RukPak v0.16 after a migration. */
export function removeHelmReleasesCommand(): Command {
  const command = new Command('remove-helm-releases')
    .addArgument(
      new Argument(
        '[bundleDeploymentName...]',
        'Names of BundleDeployments whose release Secrets are deleted',
      ),
    )
    .option('--all', 'All BundleDeployments; those that still need their release Secrets keep them')
    .option('--dry-run', 'Print what would be deleted, and change nothing')
    .option('--system-namespace <name>', 'Namespace of the release Secrets', 'rukpak-system');
  return addClusterFlags(command).addOption(outputOption()).action(remove);
}

async function remove(names: readonly string[], flags: RemoveFlags): Promise<void> {
  if ((flags.all === true) === names.length > 0) {
    throw new TerminalError('name BundleDeployments, or give --all');
  }
  // Slow to load, and not needed to report wrong arguments.
  const [{ withCluster }, { removeReleases }] = await Promise.all([
    import('../cluster.ts'),
    import('../deployments/release-removal.ts'),
  ]);
  const report = new Report(flags);
  const suffix = flags.dryRun === true ? ' (dry run)' : '';
  const result = await withCluster(flags, ({ client, signal }) =>
    removeReleases(client, {
      ...(flags.all === true ? {} : { names }),
      dryRun: flags.dryRun === true,
      namespace: flags.systemNamespace,
      signal,
      onDeleted: (secret) => report.line(`secret "${secret}" deleted${suffix}`),
      onKept: (name, because) =>
        report.line(`bundledeployment.core.rukpak.io "${name}" skipped: ${because}`),
    }),
  );
  if (result.deleted.length === 0 && result.skipped.length === 0) {
    await report.line('there are no Helm releases to remove');
  }
  await report.result(result);
}
