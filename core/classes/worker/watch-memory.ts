import { readFile } from 'node:fs/promises';
import type { Clock } from '../../platform/clock.ts';

export interface MemoryWatch {
  readonly pid: number;
  readonly maxBytes: number;
  /** Is told how many bytes there are. */
  readonly onSample: (bytes: number) => void;
  readonly clock: Clock;
  /** Ends the watching. */
  readonly signal: AbortSignal;
  readonly onExcess: () => void;
}

/** Filling memory takes a process longer than this for each few hundred megabytes. */
const interval = 100;

/**
 * Looks at a process's memory again and again: V8's own bound does not cover buffers. Where the
 * system does not tell (it is not Linux), that bound is all there is.
 */
export async function watchMemory(watch: MemoryWatch): Promise<void> {
  const { pid, maxBytes, onSample, clock, signal, onExcess } = watch;
  try {
    for (;;) {
      const status = await readFile(`/proc/${pid}/status`, 'latin1');
      // Without what it shares, such as Node's own code.
      const [, kibibytes = '0'] = /^RssAnon:\s+([0-9]+) kB$/m.exec(status) ?? [];
      const bytes = Number(kibibytes) * 1024;
      onSample(bytes);
      if (bytes > maxBytes) return onExcess();
      await clock.sleep(interval, signal);
    }
  } catch {
    // It has ended, or its manager no longer needs to know.
  }
}
