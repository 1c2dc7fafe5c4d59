import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { goBuild, userCache, withLock } from '../../deploy/go-build/index.ts';
import type { ProgramResult } from './run-in-process.ts';

/** Pins opm, and what it is made of. */
const goModule = join(import.meta.dirname, '../../deploy/local/modules/opm');
const registryModule = 'github.com/operator-framework/operator-registry';

/**
 * As opm's own Makefile has them, and without file systems that need libraries of the system. C is for
 * SQLite.
 */
const build = {
  package: `${registryModule}/cmd/opm`,
  flags: [
    '-tags=json1,containers_image_openpgp,exclude_graphdriver_btrfs,exclude_graphdriver_devicemapper',
  ],
  linkerFlags: `-X ${registryModule}/cmd/opm/version.opmVersion=v1.73.0`,
  cgo: true,
};

/** The real opm v1.73.0, built from its Go module once for a user: that takes some minutes. */
export async function opmBinary(): Promise<string> {
  const folder = join(userCache(process.env), 'opm', await pinsHash());
  const target = join(folder, 'opm');
  if (await exists(target)) return target;
  await mkdir(folder, { recursive: true });
  const onProgress = (line: string) => void process.stderr.write(`${line}\n`);
  const signal = new AbortController().signal;
  const purpose = 'building opm';
  await withLock(`${target}.lock`, { purpose, onProgress, signal }, async () => {
    if (await exists(target)) return;
    const what = { ...build, title: 'opm', target, cwd: goModule };
    await goBuild({ ...what, env: process.env, onProgress, signal });
  });
  return target;
}

async function pinsHash(): Promise<string> {
  const hash = createHash('sha256').update(`${process.platform}-${process.arch}`);
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(goModule, file)));
  return hash.digest('hex').slice(0, 16);
}

async function exists(file: string): Promise<boolean> {
  return await access(file).then(
    () => true,
    () => false,
  );
}

export interface OpmOptions {
  readonly cwd?: string;
  /** Added to the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
}

const mostOutput = 1_000_000_000;

/**
 * Garbage that Go keeps (percent of the heap): a run that takes a moment needs no collection, which was a
 * sixth of its processor time.
 */
const GOGC = '800';

/** Runs the real opm to its end. What it keeps of images, and does not remove, goes with a folder. */
export async function runOpm(
  args: readonly string[],
  { cwd, env = {}, stdin = '' }: OpmOptions = {},
): Promise<ProgramResult> {
  const file = await opmBinary();
  const TMPDIR = await mkdtemp(join(tmpdir(), 'opm-'));
  try {
    return await new Promise((resolve) => {
      const options = { cwd, env: { ...process.env, GOGC, TMPDIR, ...env }, maxBuffer: mostOutput };
      const child = execFile(file, [...args], options, (_error, stdout, stderr) => {
        resolve({ code: child.exitCode, stdout, stderr });
      });
      child.stdin?.end(stdin);
    });
  } finally {
    await rm(TMPDIR, { recursive: true, force: true });
  }
}
