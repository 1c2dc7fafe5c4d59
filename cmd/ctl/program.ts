import { Command } from 'commander';
import { renderCommand } from './render.ts';
import { runCommand } from './run.ts';

/** All commands, under the name that the person has typed. */
export function createProgram(name: string): Command {
  return new Command(name)
    .description('work with bundles from the command line')
    .addCommand(runCommand())
    .addCommand(renderCommand());
}
