import { readdirSync, readFileSync } from 'node:fs';

/** Of Linux, whatever the machine: what /proc counts processor time in. */
const ticksPerSecond = 100;

/** Processes that a process has started, and those that these have. */
export function descendantsOf(ancestor: number): readonly number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const parent = Number(statOf(Number(entry))[1] ?? 0);
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const found = [...(children.get(ancestor) ?? [])];
  for (const pid of found) found.push(...(children.get(pid) ?? []));
  return found;
}

/** Seconds of processor time by process id. */
export type CpuTimes = ReadonlyMap<number, number>;

/** Of a process and its descendants; those that have ended and were waited for count to their parents. */
export function cpuTimes(pid: number): CpuTimes {
  return new Map([pid, ...descendantsOf(pid)].map((each) => [each, cpuSeconds(each)]));
}

function cpuSeconds(pid: number): number {
  const ticks = statOf(pid).slice(11, 15);
  return ticks.reduce((sum, each) => sum + Number(each), 0) / ticksPerSecond;
}

/** From the state on, the third field of proc_pid_stat(5); none for a process that has ended. */
function statOf(pid: number): readonly string[] {
  // The name in brackets before it may hold anything.
  return readProc(`/proc/${pid}/stat`).split(') ').at(-1)?.split(' ') ?? [];
}

/** Empty for a process that has ended meanwhile. */
export function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
