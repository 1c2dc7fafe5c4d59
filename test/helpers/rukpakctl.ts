import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../../cmd/ctl/program.ts';
import { type ProgramOptions, type ProgramResult, runInProcess } from './run-in-process.ts';

const program = fileURLToPath(new URL('../../cmd/rukpakctl.ts', import.meta.url));

export type CtlResult = ProgramResult;

export interface SpawnOptions extends ProgramOptions {
  /** Given the process, to signal it. */
  readonly onStart?: (child: ChildProcess) => void;
}

/** Runs rukpakctl to its end, as from a script, in this process: none has to start and load it. */
export async function rukpakctl(
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<CtlResult> {
  return await runInProcess(() => runProgram('rukpakctl', args), options);
}

/** The same as a process of its own, for what only a process has: signals, memory, pipes. */
export async function spawnRukpakctl(
  args: readonly string[],
  { input = '', env = {}, onStart }: SpawnOptions = {},
): Promise<CtlResult> {
  const child = spawn(process.execPath, [program, ...args], { env: { ...process.env, ...env } });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text;
  });
  onStart?.(child);
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, ...output };
}
