#!/usr/bin/env node
import { Command } from 'commander';
import { errorMessage } from '../core/errors.ts';
import { renderCommand } from './ctl/render.ts';

const program = new Command('rukpakctl')
  .description('work with bundles from the command line')
  .addCommand(renderCommand());

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`error: ${errorMessage(error)}\n`);
  process.exitCode = 1;
}
