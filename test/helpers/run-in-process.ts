import nodeConsole from 'node:console';
import { PassThrough, Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface ProgramResult {
  /** Null where a signal ended the process. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly input?: string | Uint8Array;
  /** Added to the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory (default: that of the tests). */
  readonly cwd?: string;
  /** Columns of the terminal that it prints to (default: no terminal). */
  readonly columns?: number;
}

let last: Promise<unknown> = Promise.resolve();

/**
 * Runs the main function of a program in this process, and returns what a process of its own would:
 * no terminal, its output, its exit code. Calls wait for one another, because there is only one
 * `process.stdout`. Rejects only where a process would end by an unhandled rejection.
 */
export function runInProcess(
  main: () => Promise<void>,
  options: ProgramOptions = {},
): Promise<ProgramResult> {
  const run = last.then(async () => await runAlone(main, options));
  last = run.catch(() => undefined);
  return run;
}

async function runAlone(
  main: () => Promise<void>,
  { input = '', env = {}, cwd, columns }: ProgramOptions,
): Promise<ProgramResult> {
  using changes = new DisposableStack();
  let exited: number | undefined;
  const isRunning = (): boolean => exited === undefined;
  const [stdout, stderr] = [new Output(isRunning), new Output(isRunning)];
  if (columns !== undefined) Object.assign(stdout, { isTTY: true, columns });
  redirectWarnings(changes, stderr);
  redefine(changes, { stdin: new PassThrough().end(input), stdout, stderr });
  redefine(changes, {
    exit: (code?: number) => {
      exited ??= Number(code ?? process.exitCode ?? 0);
      throw new Error('the program has called process.exit');
    },
  });
  setVariables(changes, env);
  if (cwd !== undefined) changeDirectory(changes, cwd);
  dropSignalListeners(changes);
  resetExitCode(changes);
  try {
    await main();
  } catch (error) {
    if (isRunning()) throw error;
  }
  // Node writes warnings later.
  await nextTurn();
  return {
    code: exited ?? Number(process.exitCode ?? 0),
    stdout: stdout.text,
    stderr: stderr.text,
  };
}

/** Keeps what is written while the program runs: one that has exited writes nothing more. */
class Output extends Writable {
  readonly #chunks: Uint8Array[] = [];

  constructor(isRunning: () => boolean) {
    super({
      write: (chunk: Uint8Array, _encoding, done) => {
        // Its memory may be used again when this write is done.
        if (isRunning()) this.#chunks.push(Buffer.from(chunk));
        done();
      },
    });
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

/** Node writes warnings to the stream that its console found when it first wrote one. */
function redirectWarnings(changes: DisposableStack, stderr: Writable): void {
  const streams = nodeConsole as unknown as { _stderr: Writable };
  const before = streams._stderr;
  streams._stderr = stderr;
  changes.defer(() => {
    streams._stderr = before;
  });
}

function redefine(changes: DisposableStack, properties: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(properties)) {
    const before = Object.getOwnPropertyDescriptor(process, name);
    const attributes = { configurable: true, enumerable: true, writable: true };
    Object.defineProperty(process, name, { ...attributes, value });
    changes.defer(() => Object.defineProperty(process, name, before ?? {}));
  }
}

function resetExitCode(changes: DisposableStack): void {
  const { exitCode } = process;
  process.exitCode = undefined;
  changes.defer(() => {
    process.exitCode = exitCode;
  });
}

function setVariables(changes: DisposableStack, env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    const before = process.env[name];
    process.env[name] = value;
    changes.defer(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
  }
}

function changeDirectory(changes: DisposableStack, folder: string): void {
  const before = process.cwd();
  process.chdir(folder);
  changes.defer(() => process.chdir(before));
}

/** Those that the program adds would outlive it. */
function dropSignalListeners(changes: DisposableStack): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const before = process.listeners(name);
    changes.defer(() => {
      const added = process.listeners(name).filter((listener) => !before.includes(listener));
      for (const listener of added) process.off(name, listener);
    });
  }
}
