import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';

const variable = 'RUKPAK_TEST_TURNS';

/** Milliseconds between two looks. */
const interval = 5;

/**
 * Measures from inside of another process how long its event loop is held up. In processor time of
 * its main thread: on a busy machine the clock says how long others had the processor.
 */
export class LoopTurns implements AsyncDisposable {
  readonly #directory: string;
  #answers = 0;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async prepare(): Promise<LoopTurns> {
    return new LoopTurns(await mkdtemp(join(tmpdir(), 'loop-turns-')));
  }

  /** The environment of a process to measure. */
  get env(): NodeJS.ProcessEnv {
    const preload = pathToFileURL(import.meta.filename).href;
    return { NODE_OPTIONS: `--import=${preload}`, [variable]: this.#file };
  }

  /** Milliseconds of the longest turn since the last call, or since the start of the process. */
  async longest(pid: number | undefined): Promise<number> {
    process.kill(pid ?? 0, 'SIGUSR2');
    this.#answers += 1;
    // Not in the measured process.
    const { eventually } = await import('./eventually.ts');
    return await eventually(() => {
      const answers = existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split('\n') : [];
      if (answers.length <= this.#answers) throw new Error(`process ${pid} has not answered`);
      return Number(answers[this.#answers - 1]);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true });
  }

  get #file(): string {
    return join(this.#directory, 'turns');
  }
}

/** Writes the longest turn to the file at each SIGUSR2. */
function measure(file: string): void {
  let [longest, before] = [0, process.threadCpuUsage()];
  const look = (): void => {
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.threadCpuUsage();
  };
  setInterval(look, interval).unref();
  process.on('SIGUSR2', () => {
    writeFileSync(file, `${longest}\n`, { flag: 'a' });
    longest = 0;
  });
}

const file = process.env[variable];
if (isMainThread && file !== undefined) {
  // Not in the processes that it starts.
  delete process.env[variable];
  measure(file);
}
