import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface RunOptions {
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

const maxOutput = 256 * 1024 * 1024;
const keptOutput = 4_000;

/**
 * The standard output of a program.
 * @throws Error with the end of its output, when it fails.
 */
export async function run(
  program: string,
  args: readonly string[],
  options: RunOptions,
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(program, args, {
      ...options,
      maxBuffer: maxOutput,
    });
    return stdout;
  } catch (error) {
    options.signal.throwIfAborted();
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const reason = `${stdout}${stderr}`.trim().slice(-keptOutput) || String(error);
    throw new Error(`${program} ${args[0]} failed: ${reason}`, { cause: error });
  }
}
