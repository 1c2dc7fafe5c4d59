import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

const KEPT_OUTPUT = 4_000;

export interface RunGoOptions {
  /** Folder of go.mod. */
  readonly cwd: string;
  /** File of a workspace (default: none, because one above the project would change the build). */
  readonly workspace?: string;
  /** Also compile C, with the system's compiler. */
  readonly cgo?: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/** Whether there is a `go` command. */
export async function hasGo(env: NodeJS.ProcessEnv): Promise<boolean> {
  return promisify(execFile)('go', ['version'], { env }).then(
    () => true,
    () => false,
  );
}

/** @throws Error with the end of go's output, when it fails. */
export async function runGo(args: readonly string[], options: RunGoOptions): Promise<void> {
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
