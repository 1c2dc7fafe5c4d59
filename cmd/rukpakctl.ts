#!/usr/bin/env node
import { basename } from 'node:path';
import { runProgram } from './ctl/program.ts';

// A kubectl plugin is started under this file name.
const isPlugin = /^kubectl[-_]/.test(basename(process.argv[1] ?? ''));

// With a closed stderr (`2>&1 | head`) a command goes on to its end, and keeps its exit code.
process.stderr.on('error', () => undefined);

await runProgram(isPlugin ? 'kubectl bundle' : 'rukpakctl', process.argv.slice(2));
