#!/usr/bin/env node
import './favour-memory.ts';
import { stopSignal } from '../core/manager/defaults/stop-signal.ts';
import { createLogger } from '../core/observe/logger.ts';
import { runProgram } from './program.ts';

process.exitCode = await runProgram(process.argv.slice(2), {
  stopSignal,
  createLogger,
  print: (line) => console.log(line),
  printError: (line) => console.error(line),
});
