import { type OpmOptions, runOpm } from './opm.ts';
import { ourOpm } from './our-opm.ts';
import type { ProgramResult } from './run-in-process.ts';

export interface BothOptions extends OpmOptions {
  /** Replaces in both outputs what differs from run to run, such as names of temporary folders. */
  readonly normalise?: (text: string) => string;
}

/** What both programs do with the same arguments; `theirs` is the real opm, `ours` has to equal it. */
export interface BothResults {
  readonly ours: ProgramResult;
  readonly theirs: ProgramResult;
}

/** Runs our opm and the real one, one after the other, in the same folder; times in logs are dropped. */
export async function runBothOpms(
  args: readonly string[],
  { normalise = (text) => text, ...options }: BothOptions = {},
): Promise<BothResults> {
  const { cwd, env, stdin } = options;
  const theirs = await runOpm(args, options);
  const ours = await ourOpm(args, {
    ...(cwd === undefined ? {} : { cwd }),
    ...(env === undefined ? {} : { env }),
    ...(stdin === undefined ? {} : { input: stdin }),
  });
  return { ours: normalised(ours, normalise), theirs: normalised(theirs, normalise) };
}

const times = /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d |(?<=^time=)"[^"]*"/gm;

function normalised(
  { code, stdout, stderr }: ProgramResult,
  normalise: (text: string) => string,
): ProgramResult {
  return { code, stdout: normalise(stdout), stderr: normalise(stderr.replace(times, '')) };
}
