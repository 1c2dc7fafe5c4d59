import { Argument, Command } from 'commander';
import { completionScript, type Shell, shells } from './completion-scripts.ts';
import { writeOutput } from './write-output.ts';

/** `rukpakctl completion`: a script for the shell, to be evaluated at its start. */
export function completionCommand(): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', '\nIn ~/.bashrc: source <(rukpakctl completion bash)')
    .action(async (shell: Shell) => {
      await writeOutput([completionScript(shell, 'rukpakctl')], process.stdout);
    });
}
