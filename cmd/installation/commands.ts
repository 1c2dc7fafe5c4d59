import { type Command, Option } from 'commander';
import { isConfirmed } from '../flags/confirmation.ts';
import { durationOption } from '../flags/flag-values.ts';
import { systemNamespaceOf } from '../flags/process-flags.ts';
import { addCrdGuardFlags, type CrdGuardFlags } from '../flags/webhook-flags.ts';

/** The cluster, and where in it. */
interface PlaceFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly systemNamespace?: string;
}

interface InstallFlags extends CrdGuardFlags, PlaceFlags {
  readonly webhookUrl?: string;
  readonly operators?: boolean;
  readonly installDependencies?: boolean;
  readonly dryRun?: boolean;
}

interface UninstallFlags extends PlaceFlags {
  readonly deleteWorkloads?: boolean;
  readonly toRukpak?: boolean;
  readonly timeout: number;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

interface CommandOutput {
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
}

/** `rukpak install` and `rukpak uninstall`. */
export function addInstallationCommands(program: Command, output: CommandOutput): void {
  addInstall(program, output);
  addUninstall(program, output);
}

function addInstall(program: Command, { print, printError }: CommandOutput): void {
  addPlaceFlags(addCrdGuardFlags(program.command('install')))
    .description('Apply CRDs, namespaces, RBAC and webhook configurations to the cluster')
    .option(
      '--webhook-url <url>',
      'URL at which the API server reaches webhooks that run outside the cluster',
    )
    .option(
      '--operators',
      'Also install OLM 1.0: Catalog, Operator, ClusterCatalog, ClusterExtension, and RBAC of "rukpak operators"',
    )
    .option(
      '--install-dependencies',
      'With --operators: also the permissions that "rukpak operators --install-dependencies" needs',
    )
    .option('--dry-run', 'Print the objects without applying them')
    .action(async (flags: InstallFlags) => {
      const { dryRun = false, operators = false, installDependencies = false } = flags;
      if (installDependencies && !operators) {
        throw new Error('--install-dependencies needs --operators');
      }
      const systemNamespace = systemNamespaceOf(flags);
      const { install } = await import('./install.ts');
      await install(
        { ...flags, systemNamespace, operators, dryRun },
        { print, warn: (line) => printError(`warning: ${line}`) },
      );
    });
}

function addUninstall(program: Command, { print }: CommandOutput): void {
  addPlaceFlags(program.command('uninstall'))
    .description(
      'Delete programs, webhooks and RBAC from the cluster; keep CRDs, namespaces and objects of bundles',
    )
    .option(
      '--delete-workloads',
      'Also delete all Operators, ClusterExtensions, catalogs and BundleDeployments with their objects first, and the CRDs last',
    )
    .addOption(
      new Option(
        '--to-rukpak',
        'Keep BundleDeployments for RukPak v0.16: remove the finalizer and the label that core added',
      ).conflicts('deleteWorkloads'),
    )
    .addOption(durationOption('--timeout', 'Maximum time for each deletion', '5m'))
    .option('-y, --yes', 'Do not ask for confirmation of --delete-workloads at a terminal')
    .option('--dry-run', 'Print what would be deleted and kept, and change nothing')
    .action(async (flags: UninstallFlags) => {
      const { deleteWorkloads = false, dryRun = false } = flags;
      const systemNamespace = systemNamespaceOf(flags);
      const { uninstall } = await import('./uninstall.ts');
      // A script has nobody to ask.
      const isAsked = process.stdin.isTTY && flags.yes !== true;
      const confirm = isAsked ? isConfirmed : undefined;
      await uninstall({ ...flags, systemNamespace, deleteWorkloads, dryRun, confirm }, print);
    });
}

function addPlaceFlags(command: Command): Command {
  return command
    .option(
      '--kubeconfig <path>',
      'Path of the kubeconfig file (default: KUBECONFIG, else ~/.kube/config)',
    )
    .option('--context <name>', 'Context of the kubeconfig (default: its current context)')
    .option(
      '--system-namespace <name>',
      'Namespace that core and the webhooks run in (default: rukpak-system)',
    );
}
