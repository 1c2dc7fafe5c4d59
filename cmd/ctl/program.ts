import { Command } from 'commander';
import { errorMessage } from '../../core/errors.ts';
import { helpCommand } from '../help-command.ts';
import { version } from '../version.ts';
import { alphaCommand } from './alpha.ts';
import { approveCommand } from './approve.ts';
import { completeCommand } from './complete.ts';
import { completionCommand } from './completion.ts';
import { contentCommand } from './content.ts';
import { diffCommand } from './diff.ts';
import { eventsCommand } from './events.ts';
import { exportCommand } from './export.ts';
import { historyCommand } from './history.ts';
import { logLine } from './log-line.ts';
import { logsCommand } from './logs.ts';
import { namesOf } from './object-names.ts';
import { pauseCommand, resumeCommand } from './pause.ts';
import { permissionsCommand } from './permissions.ts';
import { planCommand } from './plan.ts';
import { provisionerCommand } from './provisioner.ts';
import { reconcileCommand } from './reconcile.ts';
import { removeHelmReleasesCommand } from './remove-helm-releases.ts';
import { renderCommand } from './render.ts';
import { rollbackCommand } from './rollback.ts';
import { runCommand } from './run.ts';
import { statusCommand } from './status.ts';
import { traceCommand } from './trace.ts';
import { treeCommand } from './tree.ts';
import { uninstallCommand } from './uninstall.ts';
import { validateCommand } from './validate.ts';
import { verifyCommand } from './verify.ts';
import { versionCommand } from './version.ts';

/** All commands, under the name that the person has typed. */
function createProgram(name: string): Command {
  return new Command(name)
    .description('work with bundles from the command line')
    .version(`rukpakctl ${version()}`, '--version', 'print the version of this program')
    .addCommand(runCommand())
    .addCommand(contentCommand())
    .addCommand(renderCommand())
    .addCommand(validateCommand())
    .addCommand(diffCommand())
    .addCommand(planCommand())
    .addCommand(approveCommand())
    .addCommand(permissionsCommand())
    .addCommand(statusCommand())
    .addCommand(treeCommand())
    .addCommand(traceCommand())
    .addCommand(eventsCommand())
    .addCommand(logsCommand())
    .addCommand(historyCommand())
    .addCommand(rollbackCommand())
    .addCommand(pauseCommand())
    .addCommand(resumeCommand())
    .addCommand(reconcileCommand())
    .addCommand(exportCommand())
    .addCommand(uninstallCommand())
    .addCommand(removeHelmReleasesCommand())
    .addCommand(provisionerCommand())
    .addCommand(alphaCommand(), { hidden: true })
    .addCommand(completeCommand(namesOf), { hidden: true })
    .addCommand(verifyCommand())
    .addCommand(versionCommand())
    .addCommand(completionCommand())
    .addCommand(helpCommand());
}

/** Runs the command that the arguments name; sets the exit code of the process. Never rejects. */
export async function runProgram(name: string, args: readonly string[]): Promise<void> {
  try {
    await createProgram(name).parseAsync(args, { from: 'user' });
  } catch (error) {
    process.stderr.write(logLine(errorMessage(error)));
    process.exitCode = 1;
  }
}
