import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../cmd/rukpakctl.ts', import.meta.url));

export interface CtlResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CtlOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  /** Given the process, to signal it. */
  readonly onStart?: (child: ChildProcess) => void;
}

/** Runs rukpakctl to its end, as from a script: no terminal. */
export async function rukpakctl(
  args: readonly string[],
  { input = '', env = {}, onStart }: CtlOptions = {},
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
