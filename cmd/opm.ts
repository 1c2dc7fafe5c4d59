#!/usr/bin/env node
// Before all other modules, which make garbage too.
import './favour-memory.ts';
import { runOpm } from './opm/program.ts';

// With a closed stderr (`2>&1 | head`) a command goes on to its end, and keeps its exit code.
process.stderr.on('error', () => undefined);

await runOpm(process.argv.slice(2));
