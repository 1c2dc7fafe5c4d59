import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { stringifyJson } from '../../api/json.ts';
import { runProgram } from '../../cmd/program.ts';
import type { Logger } from '../../core/contracts/logger.ts';
import type { LogLevel } from '../../core/platform/observe/index.ts';

const root = join(import.meta.dirname, '../..');

/** Of the log of each program, where a test has failed. */
const shownLines = 100;

export type StopSignal = 'SIGTERM' | 'SIGKILL';

/** One run of the program `rukpak`, to its end. */
export interface RukpakRun {
  /** What it has printed and logged. */
  readonly log: string;
  /** Undefined where it has no process of its own. */
  readonly pid: number | undefined;
  readonly isRunning: boolean;
  /** Null while it runs, and where a signal has ended it. */
  readonly exitCode: number | null;
  /** Resolves when it has ended, by itself or after `stop`. */
  readonly ended: Promise<void>;
  /** Asks it to end; SIGKILL ends it as a crash would. */
  stop(signal: StopSignal): void;
}

/** What ran since the file of tests began, by its command line. */
const runsOfFile = new Map<RukpakRun, string>();

/** What they have logged since a time, and how those ended that have. */
export function logsSince(time: Date): string {
  const since = time.toISOString();
  const told = [...runsOfFile].flatMap(([{ log, isRunning, exitCode }, command]) => {
    const lines = log.split('\n').filter((line) => timeOf(line) >= since);
    if (lines.length === 0 && exitCode === 0) return [];
    const end = isRunning ? '' : ` (ended, exit code ${exitCode})`;
    return [`${command}${end}`, ...lines.slice(-shownLines)];
  });
  return told.join('\n');
}

function timeOf(line: string): string {
  return /"time":"([^"]+)"/.exec(line)?.[1] ?? '';
}

/** A process that has been started. */
export class ProcessRun implements RukpakRun {
  log = '';
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => (this.log += text));
    }
    this.ended = once(child, 'close').then(() => undefined);
    runsOfFile.set(this, child.spawnargs.slice(1).join(' '));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  stop(signal: StopSignal): void {
    this.#child.kill(signal);
  }
}

/** As a user starts it. */
export class RukpakProcess extends ProcessRun {
  /** `env` is added to the environment. */
  constructor(args: readonly string[], kubeconfig: string, env: NodeJS.ProcessEnv = {}) {
    super(spawnRukpak(args, { ...process.env, ...env, KUBECONFIG: kubeconfig }));
  }
}

/** The program of the checkout, with nothing else in its environment. */
export function spawnRukpak(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  return spawn(process.execPath, ['cmd/rukpak.ts', ...args], {
    cwd: root,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The same program in this process: no second one has to start and load it. */
export class RukpakInProcess implements RukpakRun {
  log = '';
  readonly pid = undefined;
  readonly ended: Promise<void>;
  isRunning = true;
  exitCode: number | null = null;
  readonly #stop = new AbortController();

  constructor(args: readonly string[], kubeconfig: string) {
    runsOfFile.set(this, `rukpak ${args.join(' ')}`);
    this.ended = this.#run([...args, `--kubeconfig=${kubeconfig}`]);
  }

  stop(signal: StopSignal): void {
    if (signal === 'SIGKILL') {
      throw new Error('only a process can be killed: start the system with `run: RukpakProcess`');
    }
    this.#stop.abort(new Error(`received ${signal}`));
  }

  async #run(args: readonly string[]): Promise<void> {
    const print = (line: string): void => {
      this.log += `${line}\n`;
    };
    try {
      this.exitCode = await runProgram(args, {
        stopSignal: () => this.#stop.signal,
        createLogger: (level) => aLogger(level, print),
        print,
        printError: print,
      });
    } finally {
      this.isRunning = false;
    }
  }
}

/**
 * Ends what still runs in this process at the end of a test file, which the next one has too.
 * @throws Error that names it, once it has ended
 */
export async function endFile(): Promise<void> {
  const left = [...runsOfFile].filter(([run]) => run instanceof RukpakInProcess && run.isRunning);
  runsOfFile.clear();
  for (const [run] of left) run.stop('SIGTERM');
  await Promise.all(left.map(([run]) => run.ended));
  const names = left.map(([, name]) => name);
  if (names.length > 0) throw new Error(`the file has left running: ${names.join(', ')}`);
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Lines of JSON, as the program logs them. */
function aLogger(least: LogLevel, print: (line: string) => void, bound: object = {}): Logger {
  const at = (level: LogLevel) => (fields: object, msg: string) => {
    if (levels.indexOf(level) < levels.indexOf(least)) return;
    print(stringifyJson({ level, time: new Date().toISOString(), ...bound, ...fields, msg }));
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (fields) => aLogger(least, print, { ...bound, ...fields }),
  };
}
