#!/usr/bin/env node
import { basename } from 'node:path';
import { errorMessage } from '../core/errors.ts';
import { logLine } from './ctl/log-line.ts';
import { createProgram } from './ctl/program.ts';

// As a kubectl plugin it is called by that file's name.
const isPlugin = /^kubectl[-_]/.test(basename(process.argv[1] ?? ''));

try {
  await createProgram(isPlugin ? 'kubectl bundle' : 'rukpakctl').parseAsync();
} catch (error) {
  process.stderr.write(logLine(errorMessage(error)));
  process.exitCode = 1;
}
