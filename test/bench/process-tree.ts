import { readdirSync, readFileSync } from 'node:fs';

/** Of Linux, whatever the machine: what /proc counts processor time in. */
const millisecondsPerTick = 10;

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

/** Milliseconds of processor time, of a process and of those that it has started. */
export interface CpuTime {
  readonly own: number;
  readonly children: number;
}

/** What a process and its descendants have used since they were started. */
export function cpuTime(pid: number): CpuTime {
  const { own, ended } = cpuOf(pid);
  const alive = descendantsOf(pid).map(cpuOf);
  const children = alive.reduce((sum, child) => sum + child.own + child.ended, ended);
  return { own, children };
}

/** Children that have ended count as such once they were waited for. */
function cpuOf(pid: number): { readonly own: number; readonly ended: number } {
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = statOf(pid)
    .slice(11, 15)
    .map((ticks) => Number(ticks) * millisecondsPerTick);
  return { own: user + system, ended: endedUser + endedSystem };
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
