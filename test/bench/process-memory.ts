import { readdirSync, readFileSync } from 'node:fs';

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

/** Watches what a process and its descendants have resident until `stop`, which gives the peaks. */
export function watchMemory(pid: number, every = 50): { stop(): MemoryPeaks } {
  const peaks = { process: 0, tree: 0, children: 0, childCount: 0 };
  const sample = (): void => {
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

/** MiB; 0 for a process that has ended meanwhile. */
function residentOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const kilobytes = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(read(`/proc/${pid}/status`));
  return (Number(kilobytes?.[1] ?? 0) * 1024) / mebibyte;
}

function descendantsOf(ancestor: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    // The name in brackets may hold anything; the parent comes second after it.
    const parent = Number(read(`/proc/${entry}/stat`).split(') ').at(-1)?.split(' ')[1] ?? 0);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const found = [...(children.get(ancestor) ?? [])];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
