import { spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';

export interface CommandResult {
  readonly code: number;
  /** Standard output and error in the order of arrival. */
  readonly output: string;
}

/** Runs commands as a user would type them, and prints command and output. */
export class Transcript {
  readonly #environment: NodeJS.ProcessEnv;
  readonly #directory: string;

  constructor(options: { readonly environment: NodeJS.ProcessEnv; readonly directory: string }) {
    this.#environment = options.environment;
    this.#directory = options.directory;
  }

  heading(text: string): void {
    const heading = styleText('bold', `== ${text}`, { stream: process.stdout });
    process.stdout.write(`\n${heading}\n`);
  }

  note(text: string): void {
    process.stdout.write(`   ${text}\n`);
  }

  /** Prints and runs a command that must succeed; returns its output. */
  async run(command: string): Promise<string> {
    process.stdout.write(`$ ${command}\n`);
    const { code, output } = await this.quietly(command);
    process.stdout.write(output);
    if (code !== 0) throw new Error(`"${command}" ended with exit code ${code}`);
    return output;
  }

  /** Prints and runs a command that must fail with exactly this output. */
  async refused(command: string, expected: string): Promise<void> {
    process.stdout.write(`$ ${command}\n`);
    const { code, output } = await this.quietly(command);
    process.stdout.write(output);
    if (code === 0) throw new Error(`"${command}" was not refused`);
    if (output.trim() !== expected) throw new Error(`expected to read: ${expected}`);
  }

  /** Repeats a command, without printing it, until its output is the wanted one. */
  async until(
    command: string,
    { wanted, within = 60_000 }: { wanted: (result: CommandResult) => boolean; within?: number },
  ): Promise<void> {
    const deadline = Date.now() + within;
    for (;;) {
      const result = await this.quietly(command);
      if (wanted(result)) return;
      if (Date.now() > deadline) {
        throw new Error(`after ${within / 1000} s "${command}" still answers:\n${result.output}`);
      }
      await delay(100);
    }
  }

  quietly(command: string): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
      const child = spawn('sh', ['-c', command], {
        env: this.#environment,
        cwd: this.#directory,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      const take = (chunk: Buffer): void => {
        output += chunk.toString('utf8');
      };
      child.stdout.on('data', take);
      child.stderr.on('data', take);
      child.on('error', reject);
      child.on('close', (code) => resolve({ code: code ?? 1, output }));
    });
  }
}
