import { Command } from 'commander';
import { errorMessage } from '../../core/errors.ts';
import { version } from '../build-info.ts';
import { addCommands, type CommandRow } from '../command-table.ts';
import { helpCommand } from '../help-command.ts';
import { logLine } from './loggers.ts';

/** All commands, in the order of `--help`. */
export const commandTable: readonly CommandRow[] = [
  {
    usage: 'run [options] <bundleDeploymentName> <bundleDir>',
    summary: 'run the bundle of a directory as a BundleDeployment: apply it, and upload it',
    load: async () => (await import('./run.ts')).runCommand(),
  },
  {
    usage: 'content [options] <bundleName>',
    summary: 'list the files of an unpacked Bundle, as its content server has them',
    load: async () => (await import('./content.ts')).contentCommand(),
  },
  {
    usage: 'render [options] [bundle]',
    summary: 'print the objects that a bundle would install, without a cluster',
    load: async () => (await import('./render.ts')).renderCommand(),
  },
  {
    usage: 'validate [options] <bundle>',
    summary: 'say everything that is wrong with a bundle, without a cluster',
    load: async () => (await import('./validate.ts')).validateCommand(),
  },
  {
    usage: 'diff [options] <bundle> <bundleDeploymentName>',
    summary: 'show what an upgrade of a BundleDeployment to a bundle would change',
    load: async () => (await import('./diff.ts')).diffCommand(),
  },
  {
    usage: 'plan [options] <bundleDeploymentName>',
    summary: 'show what a BundleDeployment with upgradePolicy Manual waits to do',
    load: async () => (await import('./plan.ts')).planCommand(),
  },
  {
    usage: 'approve [options] <bundleDeploymentName>',
    summary: 'approve the plan that a BundleDeployment waits with',
    load: async () => (await import('./approve.ts')).approveCommand(),
  },
  {
    usage: 'permissions [options] <bundle>',
    summary: 'print the roles and bindings that a ServiceAccount needs to install a bundle',
    load: async () => (await import('./permissions.ts')).permissionsCommand(),
  },
  {
    usage: 'status [options] [bundleDeploymentName]',
    summary: 'show a BundleDeployment with its Bundles and objects, or list all with their state',
    load: async () => (await import('./status.ts')).statusCommand(),
  },
  {
    usage: 'tree [options] <bundleDeploymentName>',
    summary: 'show the objects of a BundleDeployment, and what was made for them, down to Pods',
    load: async () => (await import('./tree.ts')).treeCommand(),
  },
  {
    usage: 'trace [options] <kind/name>',
    summary: 'name the BundleDeployment that an object, such as a Pod, is there for',
    load: async () => (await import('./trace.ts')).traceCommand(),
  },
  {
    usage: 'events [options] <bundleDeploymentName>',
    summary:
      'list the Events of a BundleDeployment, its Bundles, its objects and their Pods, the oldest first',
    load: async () => (await import('./events.ts')).eventsCommand(),
  },
  {
    usage: 'logs [options] [bundleDeploymentName]',
    summary: 'show what core and the webhooks have logged, of all or one BundleDeployment',
    load: async () => (await import('./logs.ts')).logsCommand(),
  },
  {
    usage: 'history [options] <bundleDeploymentName>',
    summary: 'list the revisions of a BundleDeployment: what was applied, by whom and when',
    load: async () => (await import('./history.ts')).historyCommand(),
  },
  {
    usage: 'rollback [options] <bundleDeploymentName>',
    summary: 'put an earlier Bundle of a BundleDeployment back: the last one that was healthy',
    load: async () => (await import('./rollback.ts')).rollbackCommand(),
  },
  {
    usage: 'pause [options] <bundleDeploymentName>',
    summary: 'change nothing in the cluster for a BundleDeployment until it is resumed',
    load: async () => (await import('./pause.ts')).pauseCommand(),
  },
  {
    usage: 'resume [options] <bundleDeploymentName>',
    summary: 'end the pause of a BundleDeployment: it goes on with what its spec says now',
    load: async () => (await import('./pause.ts')).resumeCommand(),
  },
  {
    usage: 'reconcile [options] <bundleDeploymentName>',
    summary: 'try a BundleDeployment, and its Bundle, again now instead of after the back-off',
    load: async () => (await import('./reconcile.ts')).reconcileCommand(),
  },
  {
    usage: 'export [options] [bundleDeploymentName]',
    summary: 'print the manifest of a BundleDeployment, for git or another cluster',
    load: async () => (await import('./export.ts')).exportCommand(),
  },
  {
    usage: 'uninstall [options] <bundleDeploymentName>',
    summary: 'delete a BundleDeployment with what it installed: say what goes, ask, and wait',
    load: async () => (await import('./uninstall.ts')).uninstallCommand(),
  },
  {
    usage: 'remove-helm-releases [options] [bundleDeploymentName...]',
    summary:
      'delete the Secrets in which RukPak v0.16 kept Helm releases, of deployments that no longer need them',
    load: async () => (await import('./remove-helm-releases.ts')).removeHelmReleasesCommand(),
  },
  {
    usage: 'bundle',
    summary: 'make, check and read bundles and their images',
    load: async (args) => (await import('./bundle/commands.ts')).bundleCommand(args),
  },
  {
    usage: 'catalog',
    summary: 'read, check, write and serve file-based catalogs',
    load: async (args) => (await import('./catalog/commands.ts')).catalogCommand(args),
  },
  {
    usage: 'provisioner',
    summary: 'write a provisioner class of your own',
    load: async () => (await import('./provisioner.ts')).provisionerCommand(),
  },
  {
    usage: 'alpha',
    summary: 'commands that may still change',
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
    summary: 'say whether the installation is healthy, part by part',
    load: async () => (await import('./verify.ts')).verifyCommand(),
  },
  {
    usage: 'version [options]',
    summary: 'say which revision this is',
    load: async () => (await import('./version.ts')).versionCommand(),
  },
  {
    usage: 'completion <shell>',
    summary: 'print what completes commands, flags and names in a shell',
    load: async () => (await import('./completion.ts')).completionCommand(),
  },
  {
    usage: 'help [command...]',
    summary: 'show the help of a command',
    load: async () => helpCommand(),
  },
];

/** Runs the command that the arguments name; sets the exit code of the process. Never rejects. */
export async function runProgram(name: string, args: readonly string[]): Promise<void> {
  try {
    const program = new Command(name)
      .description('work with bundles from the command line')
      .version(`rukpakctl ${version()}`, '--version', 'print the version of this program');
    await addCommands(program, commandTable, args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.stderr.write(logLine(errorMessage(error)));
    process.exitCode = 1;
  }
}
