import { execFile, spawn } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { BinaryName } from './catalogue.ts';
import { BINARIES } from './catalogue.ts';
import { moduleDir, pinnedVersion } from './modules.ts';
import type { Progress } from './progress.ts';

const REPORT_MILLISECONDS = 15_000;
const KEPT_OUTPUT = 4_000;

/** Whether there is a `go` command to build with. */
export async function hasGo(env: NodeJS.ProcessEnv): Promise<boolean> {
  return promisify(execFile)('go', ['version'], { env }).then(
    () => true,
    () => false,
  );
}

export interface BuildOptions {
  readonly env: NodeJS.ProcessEnv;
  /** What comes after the name in progress lines, such as `(1 of 6)`. */
  readonly position: string;
  readonly onProgress: Progress;
  readonly signal: AbortSignal;
}

async function linkerFlags(name: BinaryName): Promise<string> {
  const stripped = '-s -w';
  if (BINARIES[name].versionOf !== 'k8s.io/kubernetes') return stripped;
  // The API server refuses to guess its own version: clients read it, and so does its storage.
  const [major, minor, patch] = await pinnedVersion(name);
  const variables = {
    gitVersion: `v${major}.${minor}.${patch}`,
    gitMajor: String(major),
    gitMinor: String(minor),
  };
  const set = Object.entries(variables).map(
    ([variable, value]) => `-X k8s.io/component-base/version.${variable}=${value}`,
  );
  return [stripped, ...set].join(' ');
}

async function runGo(args: readonly string[], cwd: string, options: BuildOptions): Promise<void> {
  const child = spawn('go', args, {
    cwd,
    // A workspace file above the project would change what is built.
    env: { ...options.env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: options.signal,
    // go ends its compilers on an interrupt, not on a termination.
    killSignal: 'SIGINT',
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-KEPT_OUTPUT);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  });
  if (code !== 0) throw new Error(output.trim() || `go ended with code ${code}`);
}

/** Builds the pinned version with Go; `target` appears at once and whole, or not at all. */
export async function buildBinary(
  name: BinaryName,
  target: string,
  options: BuildOptions,
): Promise<void> {
  const { onProgress, position } = options;
  const spec = BINARIES[name];
  const temporary = join(dirname(target), `.${name}.${process.pid}.build`);
  const flags = [
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    '-ldflags',
    await linkerFlags(name),
  ];
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  onProgress(`building ${name} ${position}; this can take minutes and is done once`);
  const report = setInterval(
    () => onProgress(`building ${name} ${position}, ${seconds()} s`),
    REPORT_MILLISECONDS,
  );
  try {
    const args = ['build', ...flags, '-o', temporary, spec.package];
    await runGo(args, moduleDir(spec.module), options);
    await rename(temporary, target);
    onProgress(`built ${name} ${position} in ${seconds()} s`);
  } catch (error) {
    options.signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`go cannot build ${name} (${spec.package}): ${reason}`, { cause: error });
  } finally {
    clearInterval(report);
    await rm(temporary, { force: true });
  }
}
