#!/usr/bin/env node
import { basename } from 'node:path';
import { runProgram } from './ctl/program.ts';

// A kubectl plugin is started under this file name.
const isPlugin = /^kubectl[-_]/.test(basename(process.argv[1] ?? ''));

await runProgram(isPlugin ? 'kubectl bundle' : 'rukpakctl', process.argv.slice(2));
