import { descendantsOf, readProc } from './process-tree.ts';

const mebibyte = 1024 * 1024;

export interface MemoryPeaks {
  /** Resident MiB of the process, by the kernel's own high-water mark. */
  readonly process: number;
  /** Of it and its descendants together, as far as samples show. */
  readonly tree: number;
  /** Of its descendants alone. */
  readonly children: number;
  /** Descendants at once. */
  readonly childCount: number;
}

/**
 * Watches what a process and its descendants have resident until `stop`, which gives the peaks. The
 * process may be another one after a restart.
 */
export function watchMemory(process: () => number, every = 50): { stop(): MemoryPeaks } {
  const peaks = { process: 0, tree: 0, children: 0, childCount: 0 };
  const sample = (): void => {
    const pid = process();
    const own = residentOf(pid, 'VmRSS');
    const children = descendantsOf(pid);
    const theirs = children.reduce((sum, child) => sum + residentOf(child, 'VmRSS'), 0);
    peaks.process = Math.max(peaks.process, residentOf(pid, 'VmHWM'));
    peaks.tree = Math.max(peaks.tree, own + theirs);
    peaks.children = Math.max(peaks.children, theirs);
    peaks.childCount = Math.max(peaks.childCount, children.length);
  };
  const timer = setInterval(sample, every);
  return {
    stop() {
      sample();
      clearInterval(timer);
      return peaks;
    },
  };
}

/**
 * MiB, now or at most so far; 0 for a process that has ended meanwhile. The peak is its own, where
 * `maxRSS` of `getrusage` begins with what the process had that started it.
 */
export function residentOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(
    readProc(`/proc/${pid}/status`),
  );
  return (Number(kilobytes?.[1] ?? 0) * 1024) / mebibyte;
}
