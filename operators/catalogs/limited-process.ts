import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import {
  type Clock,
  developmentVariables,
  endText,
  type FileAccess,
  nodePermissions,
  type ProcessEnd,
  processorTime,
} from '../../core/controller.ts';

/** Below the manager, whose health checks must be answered. */
const lowPriority = 5;
const shownOutput = 2000;
/** Milliseconds. */
const shortestLook = 100;

/** How a process has ended. */
export interface Death extends ProcessEnd {
  /** The end of what it has printed. */
  readonly output: string;
}

export interface ProcessAccess extends FileAccess {
  /** Maximum megabytes of JavaScript objects. */
  readonly memoryMegabytes: number;
}

/**
 * Starts a program of this package that reads what strangers wrote: with limited memory, a low
 * priority, no credentials, no files but the named ones, and a channel for messages.
 */
export function startLimited(program: string, access: ProcessAccess): ChildProcess {
  const memory = [`--max-old-space-size=${access.memoryMegabytes}`, '--max-semi-space-size=8'];
  const variables = developmentVariables();
  const child = fork(program, [], {
    execArgv: [...memory, ...nodePermissions(access, variables)],
    cwd: '/',
    env: { ...environment(), ...variables },
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  standBack(child);
  return child;
}

/** Resolves when the process has ended and its pipes are closed. */
export async function deathOf(child: ChildProcess): Promise<Death> {
  let output = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-shownOutput);
  });
  return await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, output: output.trim() }));
  });
}

/** How long a process may work (milliseconds). */
export interface TimeLimits {
  /** Of the processor; unknown on systems other than Linux. */
  readonly processor: number;
  /** Of the clock, for a process that waits, and for a machine that is busy with others. */
  readonly elapsed: number;
}

/**
 * Resolves with the limit that a process has reached since the call (`30 s of processor time`).
 * @throws the reason of the signal
 */
export async function timeIsUp(
  { pid }: ChildProcess,
  { processor, elapsed }: TimeLimits,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<string> {
  const before = { processor: processorTime(pid), elapsed: clock.monotonic() };
  for (;;) {
    const used = processorTime(pid) - before.processor;
    if (used >= processor) return `${processor / 1000} s of processor time`;
    const left = elapsed - (clock.monotonic() - before.elapsed);
    if (left <= 0) return `${elapsed / 1000} s`;
    const work = Number.isNaN(used) ? left : processor - used;
    await clock.sleep(Math.min(left, Math.max(work, shortestLook)), signal);
  }
}

/** V8 aborts at the limit that the process was started with. */
export function isOutOfMemory({ code, signal }: Death): boolean {
  return signal === 'SIGABRT' || code === 134;
}

/** The predicate of a sentence about a process that has ended by itself, or by others. */
export function deathText(death: Death): string {
  return endText(death, { parent: 'this program', details: death.output });
}

function standBack({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) setPriority(pid, lowPriority);
  } catch {
    // It has ended already.
  }
}

/** Without tokens, and proxies with passwords. */
function environment(): NodeJS.ProcessEnv {
  const { TZ, LANG, MALLOC_ARENA_MAX } = process.env;
  const passed = { TZ, LANG, MALLOC_ARENA_MAX };
  return Object.fromEntries(Object.entries(passed).filter(([, value]) => value !== undefined));
}
