import { Command } from 'commander';
import { errorMessage } from '../../core/errors.ts';
import { version } from '../build-info.ts';
import { addCommands, type CommandRow } from '../command-table.ts';
import { helpCommand } from '../help-command.ts';
import { logLine } from './output/loggers.ts';

/** All commands, in the order of `--help`. */
export const commandTable: readonly CommandRow[] = [
  {
    usage: 'run [options] <bundleDeploymentName> <bundleDir>',
    summary: 'Upload the bundle in a directory, and install it as a BundleDeployment',
    load: async () => (await import('./run.ts')).runCommand(),
  },
  {
    usage: 'content [options] <bundleName>',
    summary: 'List the files of an unpacked Bundle',
    load: async () => (await import('./content.ts')).contentCommand(),
  },
  {
    usage: 'render [options] [bundle]',
    summary: 'Print the objects that a bundle would install, without a cluster',
    load: async () => (await import('./render.ts')).renderCommand(),
  },
  {
    usage: 'validate [options] <bundle>',
    summary: 'Validate a bundle offline and report all problems',
    load: async () => (await import('./validate.ts')).validateCommand(),
  },
  {
    usage: 'mirror [options]',
    summary:
      'Copy catalogs and images to a registry for disconnected clusters, directly or through a directory or tar',
    load: async () => (await import('./mirror/mirror.ts')).mirrorCommand(),
  },
  {
    usage: 'diff [options] <bundle> <bundleDeploymentName>',
    summary: 'Show what an upgrade of a BundleDeployment to a bundle would change',
    load: async () => (await import('./diff/diff.ts')).diffCommand(),
  },
  {
    usage: 'plan [options] <bundleDeploymentName>',
    summary: 'Show the plan of a BundleDeployment that waits for approval (upgradePolicy Manual)',
    load: async () => (await import('./lifecycle/plan.ts')).planCommand(),
  },
  {
    usage: 'approve [options] <bundleDeploymentName>',
    summary: 'Approve the plan of a BundleDeployment',
    load: async () => (await import('./lifecycle/approve.ts')).approveCommand(),
  },
  {
    usage: 'permissions [options] <bundle>',
    summary: 'Print the RBAC objects that a ServiceAccount needs to install a bundle',
    load: async () => (await import('./permissions/permissions.ts')).permissionsCommand(),
  },
  {
    usage: 'status [options] [bundleDeploymentName]',
    summary: 'Show a BundleDeployment with its Bundles and objects, or list all BundleDeployments',
    load: async () => (await import('./status/status.ts')).statusCommand(),
  },
  {
    usage: 'tree [options] <bundleDeploymentName>',
    summary: 'Show the objects of a BundleDeployment and their dependents, down to Pods',
    load: async () => (await import('./objects/tree.ts')).treeCommand(),
  },
  {
    usage: 'trace [options] <kind/name>',
    summary: 'Find the BundleDeployment that an object, such as a Pod, belongs to',
    load: async () => (await import('./objects/trace.ts')).traceCommand(),
  },
  {
    usage: 'events [options] <bundleDeploymentName>',
    summary:
      'List the Events of a BundleDeployment, its Bundles, its objects and their Pods, oldest first',
    load: async () => (await import('./objects/events.ts')).eventsCommand(),
  },
  {
    usage: 'logs [options] [bundleDeploymentName]',
    summary: 'Show the logs of core and the webhooks, for all BundleDeployments or one',
    load: async () => (await import('./logs/logs.ts')).logsCommand(),
  },
  {
    usage: 'history [options] <bundleDeploymentName>',
    summary: 'List the revisions of a BundleDeployment: what was applied, by whom and when',
    load: async () => (await import('./lifecycle/history.ts')).historyCommand(),
  },
  {
    usage: 'rollback [options] <bundleDeploymentName>',
    summary: 'Roll back a BundleDeployment to its last healthy Bundle, or to an earlier one',
    load: async () => (await import('./lifecycle/rollback.ts')).rollbackCommand(),
  },
  {
    usage: 'pause [options] <bundleDeploymentName>',
    summary: 'Pause a BundleDeployment: core changes nothing for it in the cluster',
    load: async () => (await import('./lifecycle/pause.ts')).pauseCommand(),
  },
  {
    usage: 'resume [options] <bundleDeploymentName>',
    summary: 'Resume a paused BundleDeployment',
    load: async () => (await import('./lifecycle/pause.ts')).resumeCommand(),
  },
  {
    usage: 'reconcile [options] <bundleDeploymentName>',
    summary: 'Reconcile a BundleDeployment and its Bundle now, without waiting for the back-off',
    load: async () => (await import('./lifecycle/reconcile.ts')).reconcileCommand(),
  },
  {
    usage: 'export [options] [bundleDeploymentName]',
    summary: 'Print the manifest of a BundleDeployment, for git or another cluster',
    load: async () => (await import('./lifecycle/export.ts')).exportCommand(),
  },
  {
    usage: 'uninstall [options] <bundleDeploymentName>',
    summary: 'Delete a BundleDeployment and its objects: list them, ask for confirmation, and wait',
    load: async () => (await import('./lifecycle/uninstall.ts')).uninstallCommand(),
  },
  {
    usage: 'remove-helm-releases [options] [bundleDeploymentName...]',
    summary: 'Delete Helm release Secrets of RukPak v0.16 that BundleDeployments no longer need',
    load: async () =>
      (await import('./lifecycle/remove-helm-releases.ts')).removeHelmReleasesCommand(),
  },
  {
    usage: 'bundle',
    summary: 'Make, validate and read bundles and their images',
    load: async (args) => (await import('./bundle/commands.ts')).bundleCommand(args),
  },
  {
    usage: 'catalog',
    summary: 'Read, validate, write, compare and serve file-based catalogs',
    load: async (args) => (await import('./catalog/commands.ts')).catalogCommand(args),
  },
  {
    usage: 'operator',
    summary: 'Find, install, upgrade and explain operators of the cluster’s catalogs',
    load: async (args) => (await import('./operator/commands.ts')).operatorCommand(args),
  },
  {
    usage: 'provisioner',
    summary: 'Create, run and test a provisioner class',
    load: async () => (await import('./provisioner/provisioner.ts')).provisionerCommand(),
  },
  {
    usage: 'alpha',
    summary: 'Commands that may change in any release',
    hidden: true,
    load: async () => (await import('./bootstrap.ts')).alphaCommand(),
  },
  {
    usage: '__complete [words...]',
    summary: '',
    hidden: true,
    load: async () => (await import('./complete.ts')).completeCommand(),
  },
  {
    usage: 'verify|check [options]',
    summary: 'Check whether the installation is healthy, part by part',
    load: async () => (await import('./verify/verify.ts')).verifyCommand(),
  },
  {
    usage: 'version [options]',
    summary: 'Print the revision of this program',
    load: async () => (await import('./version.ts')).versionCommand(),
  },
  {
    usage: 'completion <shell>',
    summary: 'Print the completion script for a shell',
    load: async () => (await import('./completion.ts')).completionCommand(),
  },
  {
    usage: 'help [command...]',
    summary: 'Show the help of a command',
    load: async () => helpCommand(),
  },
];

/** Runs the command that the arguments name; sets the exit code of the process. Never rejects. */
export async function runProgram(name: string, args: readonly string[]): Promise<void> {
  try {
    const program = new Command(name)
      .description('Validate, install and inspect bundles')
      // Commands may have a flag --version of their own.
      .enablePositionalOptions()
      .version(`rukpakctl ${version()}`, '--version', 'Print the version of this program');
    await addCommands(program, commandTable, args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.stderr.write(logLine(errorMessage(error)));
    process.exitCode = 1;
  }
}
