import { execFile, spawn } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const REPORT_MILLISECONDS = 15_000;
const KEPT_OUTPUT = 4_000;

/** Receives progress lines. */
export type Progress = (line: string) => void;

interface GoBuildOptions {
  /** Folder of go.mod. */
  readonly cwd: string;
  /** File of a workspace (default: none, because one above the project would change the build). */
  readonly workspace?: string;
  /** Also compile C, with the system's compiler. */
  readonly cgo?: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
  /** Name of the build for progress lines. */
  readonly title: string;
  readonly package: string;
  readonly target: string;
  /** Added to `-s -w`. */
  readonly linkerFlags?: string;
  readonly flags?: readonly string[];
  readonly onProgress: Progress;
}

/** Builds with Go, with the same options everywhere; `target` appears complete, or not at all. */
export async function goBuild(options: GoBuildOptions): Promise<void> {
  const { title, target, linkerFlags = '', flags = [], onProgress, signal } = options;
  const temporary = join(dirname(target), `.${basename(target)}.${process.pid}.build`);
  const reproducible = ['-mod=readonly', '-trimpath', '-buildvcs=false'];
  const linker = ['-ldflags', `-s -w ${linkerFlags}`.trim()];
  const startedAt = Date.now();
  const seconds = () => Math.round((Date.now() - startedAt) / 1000);
  onProgress(`building ${title}; this can take minutes and is done once`);
  const report = setInterval(
    () => onProgress(`building ${title}, ${seconds()} s`),
    REPORT_MILLISECONDS,
  );
  try {
    const args = [...reproducible, ...linker, ...flags, '-o', temporary, options.package];
    await runGo(['build', ...args], options);
    await rename(temporary, target);
    onProgress(`built ${title} in ${seconds()} s`);
  } catch (error) {
    signal.throwIfAborted();
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`go cannot build ${title}: ${reason}`, { cause: error });
  } finally {
    clearInterval(report);
    await rm(temporary, { force: true });
  }
}

/** Whether there is a `go` command. */
export async function hasGo(env: NodeJS.ProcessEnv): Promise<boolean> {
  return promisify(execFile)('go', ['version'], { env }).then(
    () => true,
    () => false,
  );
}

/** @throws Error with the end of go's output, when it fails. */
async function runGo(args: readonly string[], options: GoBuildOptions): Promise<void> {
  const { cwd, workspace = 'off', cgo = false, env, signal } = options;
  const child = spawn('go', args, {
    cwd,
    env: { ...env, CGO_ENABLED: cgo ? '1' : '0', GOWORK: workspace },
    stdio: ['ignore', 'ignore', 'pipe'],
    signal,
    // go ends its compilers on an interrupt, but not on a termination.
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
