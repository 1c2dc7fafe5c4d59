import { readFileSync } from 'node:fs';

/**
 * Milliseconds per clock tick of Linux' process accounting, independent of the kernel's own clock.
 */
const millisecondsPerTick = 10;

/** Milliseconds of processor time of a process; NaN when the system does not report it. */
export function processorTime(pid: number | undefined): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the program's name, which may contain blanks and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * millisecondsPerTick;
  } catch {
    return Number.NaN;
  }
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
