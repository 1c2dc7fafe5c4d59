#!/usr/bin/env node
import { basename } from 'node:path';
import { runProgram } from './ctl/program.ts';

// As a kubectl plugin it is called by that file's name.
const isPlugin = /^kubectl[-_]/.test(basename(process.argv[1] ?? ''));

await runProgram(isPlugin ? 'kubectl bundle' : 'rukpakctl', process.argv.slice(2));
