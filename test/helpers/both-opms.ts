import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

export interface ApartOptions {
  /** A folder whose content both find in theirs. */
  readonly copyOf?: string;
  /** Executable files to find there, by path. */
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: (folder: string) => Readonly<Record<string, string>>;
}

interface ApartResult extends ProgramResult {
  /** What is in the folder afterwards, by path. */
  readonly files: Readonly<Record<string, string>>;
}

/** Runs both opms in folders of their own that are alike, and which they may write to. */
export async function runBothOpmsApart(
  args: readonly string[],
  { copyOf, files = {}, env = () => ({}) }: ApartOptions = {},
): Promise<{ readonly ours: ApartResult; readonly theirs: ApartResult }> {
  const parent = await mkdtemp(join(tmpdir(), 'both-opms-'));
  const run = async (name: string, opm: typeof ourOpm | typeof runOpm): Promise<ApartResult> => {
    const cwd = join(parent, name);
    if (copyOf === undefined) await mkdir(cwd);
    else await cp(copyOf, cwd, { recursive: true });
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(cwd, path)), { recursive: true });
      await writeFile(join(cwd, path), content, { mode: 0o755 });
    }
    const result = await opm(args, { cwd, env: env(cwd) });
    const withoutFolder = (text: string): string => text.replaceAll(cwd, '');
    return { ...normalised(result, withoutFolder), files: await contentOf(cwd) };
  };
  try {
    return { ours: await run('ours', ourOpm), theirs: await run('theirs', runOpm) };
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

async function contentOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((each) => join(each.parentPath, each.name));
  const read = paths.toSorted().map(async (path) => {
    return [path.slice(folder.length + 1), await readFile(path, 'utf8')] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}
