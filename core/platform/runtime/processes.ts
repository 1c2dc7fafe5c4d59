import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { promisify } from 'node:util';

/**
 * Milliseconds per clock tick of Linux' process accounting, independent of the kernel's own clock.
 */
const millisecondsPerTick = 10;

/** Milliseconds of processor time of a process; NaN when the system does not report it. */
export function processorTime(pid: number | undefined): number {
  try {
    const { spent } = accountOf(readFileSync(`/proc/${pid}/stat`, 'latin1'));
    return spent;
  } catch {
    return Number.NaN;
  }
}

/**
 * When a process began, in clock ticks since the system's start: its number may be another process's
 * later. Undefined when it has ended, and on systems other than Linux.
 */
export async function beginOf(pid: number): Promise<string | undefined> {
  const account = await textOf(`/proc/${pid}/stat`);
  return account === undefined ? undefined : accountOf(account).begin;
}

/** ID of the system's start; undefined on systems other than Linux. */
export async function bootID(): Promise<string | undefined> {
  return (await textOf('/proc/sys/kernel/random/boot_id'))?.trim();
}

/** The same of a process on any system, to compare: undefined when it has ended. */
export async function startOf(pid: number): Promise<string | undefined> {
  if (platform() === 'linux') {
    const begin = await beginOf(pid);
    return begin === undefined ? undefined : `${await bootID()} ${begin}`;
  }
  try {
    const { stdout } = await promisify(execFile)('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return stdout.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** From the kernel's line about a process. */
function accountOf(line: string): { readonly begin: string | undefined; readonly spent: number } {
  // The second field is the program's name, which may contain blanks and brackets.
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state] = fields;
  // It has ended, and its parent has not noticed.
  const isOver = state === 'Z' || state === 'X';
  return {
    begin: isOver ? undefined : fields[19],
    spent: (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick,
  };
}

async function textOf(path: string): Promise<string | undefined> {
  return await readFile(path, 'latin1').catch(() => undefined);
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/**
 * The predicate of a sentence about a process that `parent` did not end; with `details` unless it
 * was killed: whoever sends SIGKILL leaves no reason.
 */
export function endText(
  { code, signal }: ProcessEnd,
  { parent, details }: { readonly parent: string; readonly details: string },
): string {
  if (signal === 'SIGKILL') {
    return `was killed by SIGKILL, and not by ${parent}: the memory limit of the kernel or the container is the likely cause`;
  }
  const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
  return `ended ${how}${details === '' ? '' : `: ${details}`}`;
}
