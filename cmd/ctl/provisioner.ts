import { Command } from 'commander';
import { helpCommand } from '../help-command.ts';
import { devCommand } from './provisioner/dev.ts';
import { newCommand } from './provisioner/new.ts';
import { sampleCommand } from './provisioner/sample.ts';

/** `rukpakctl provisioner`: for who writes a provisioner class. */
export function provisionerCommand(): Command {
  return new Command('provisioner')
    .addCommand(newCommand())
    .addCommand(devCommand())
    .addCommand(sampleCommand())
    .addCommand(helpCommand());
}
