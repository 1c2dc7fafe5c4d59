#!/usr/bin/env node
// Before all other modules, which make garbage too.
import './favour-memory.ts';
import { runOpm } from './opm/program.ts';

await runOpm(process.argv.slice(2));
