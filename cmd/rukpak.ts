#!/usr/bin/env node
import './favour-memory.ts';
import './processes/more-threads.ts';
import { stopSignal } from '../core/platform/runtime/index.ts';
import { processLogger } from './processes/process-logger.ts';
import { runProgram } from './program.ts';

// With a closed output (`| head`) a command goes on to its end: half an uninstallation has no webhooks.
for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);

process.exitCode = await runProgram(process.argv.slice(2), {
  stopSignal,
  createLogger: processLogger,
  print: (line) => console.log(line),
  printError: (line) => console.error(line),
});
