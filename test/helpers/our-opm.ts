import { runOpm } from '../../cmd/opm/program.ts';
import { type ProgramOptions, type ProgramResult, runInProcess } from './run-in-process.ts';

/** Runs our opm to its end, as from a script, in this process. */
export async function ourOpm(
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  return await runInProcess(() => runOpm(args), options);
}
