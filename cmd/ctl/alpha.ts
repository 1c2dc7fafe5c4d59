import { Command } from 'commander';
import { helpCommand } from '../help-command.ts';
import { bootstrapCommand } from './bootstrap.ts';

/** `rukpakctl alpha`: what may still change; not shown in the help. */
export function alphaCommand(): Command {
  return new Command('alpha').addCommand(bootstrapCommand()).addCommand(helpCommand());
}
