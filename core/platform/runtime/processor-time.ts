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
