#!/usr/bin/env node
import './favour-memory.ts';
import { errorMessage } from '../core/errors.ts';
import { stopSignal } from '../core/manager/defaults/stop-signal.ts';
import { createLogger } from '../core/observe/logger.ts';
import { createProgram } from './program.ts';

try {
  const print = (line: string): void => console.log(line);
  await createProgram({ stopSignal, createLogger, print }).parseAsync();
} catch (error) {
  console.error(`rukpak: ${errorMessage(error)}`);
  process.exitCode = 1;
}
