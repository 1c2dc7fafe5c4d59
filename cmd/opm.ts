#!/usr/bin/env node
import { runOpm } from './opm/program.ts';

await runOpm(process.argv.slice(2));
