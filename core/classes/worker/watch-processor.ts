import { readFile } from 'node:fs/promises';
import type { Clock } from '../../platform/clock.ts';

export interface ProcessorWatch {
  readonly pid: number;
  /** Milliseconds of processor time from now on. */
  readonly limit: number;
  readonly clock: Clock;
  /** Ends the watching. */
  readonly signal: AbortSignal;
  readonly onExcess: () => void;
}

const interval = 100;
/** Of Linux' accounting, whatever the kernel's own clock is. */
const millisecondsPerTick = 10;

/**
 * Looks at a process's processor time again and again: on a busy machine the clock says little of
 * what it has done. Where the system does not tell (it is not Linux), nothing is watched.
 */
export async function watchProcessor(watch: ProcessorWatch): Promise<void> {
  const { pid, limit, clock, signal, onExcess } = watch;
  try {
    const before = await processorTime(pid);
    for (;;) {
      if ((await processorTime(pid)) - before > limit) return onExcess();
      await clock.sleep(interval, signal);
    }
  } catch {
    // It has ended or answered, or the system does not tell.
  }
}

async function processorTime(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
  // The second field is the program's name, which may have blanks and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return (user + system) * millisecondsPerTick;
}
