import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { Argument, Command } from 'commander';
import { TerminalError } from '../../../core/errors.ts';
import { helpCommand } from '../../help-command.ts';
import { visibleText } from '../terminal/text.ts';
import { newCommand } from './new.ts';
import { sampleCommand } from './sample.ts';

/** `rukpakctl provisioner`: for authors of provisioner classes. */
export function provisionerCommand(): Command {
  return new Command('provisioner')
    .addCommand(newCommand())
    .addCommand(devCommand())
    .addCommand(sampleCommand())
    .addCommand(helpCommand());
}

/** `rukpakctl provisioner dev`: runs the class of a project, and restarts it after every save. */
function devCommand(): Command {
  return new Command('dev')
    .description('Run a class on a local control plane, and restart it at every save')
    .addArgument(new Argument('[module]', 'Module that exports the class').default('src/class.ts'))
    .action(dev);
}

async function dev(module: string): Promise<void> {
  if (statSync(module, { throwIfNoEntry: false })?.isFile() !== true) {
    throw new TerminalError(`there is no ${resolve(module)}: run this in the folder of a project`);
  }
  endWithTerminal();
  const [{ develop }, { stopSignal }] = await Promise.all([
    import('./develop.ts'),
    import('../../../core/platform/runtime/index.ts'),
  ]);
  await develop({ module: resolve(module), folder: process.cwd(), say }, stopSignal());
}

function say(line: string): void {
  process.stdout.write(`${visibleText(line)}\n`);
}

/** Closing the terminal ends the command like Ctrl-C, without any reader for its output. */
function endWithTerminal(): void {
  process.once('SIGHUP', () => process.kill(process.pid, 'SIGTERM'));
  process.stdout.on('error', () => undefined);
}
