import { setTimeout as delay } from 'node:timers/promises';
import { layoutOf } from '../../../deploy/local/cluster/layout.ts';
import { readState } from '../../../deploy/local/cluster/state.ts';
import { isWrite } from '../../helpers/audit-log.ts';
import type { CoreProcess } from '../core-process.ts';
import { type MemoryPeaks, watchMemory } from '../process-memory.ts';
import { type CpuTime, cpuTime } from '../process-tree.ts';
import type { Bench } from './bench.ts';
import {
  countRequests,
  isForLease,
  isForLooking,
  isForWork,
  type RequestCounts,
} from './requests.ts';

/** Milliseconds without a request after which the work of a phase is done. */
const longQuiet = 3_000;
const memorySample = 250;

/** What measuring needs. */
export interface Measured extends Bench {
  readonly core: CoreProcess;
}

/** Costs of a phase. */
export interface Cost {
  /** Milliseconds of processor time: of the manager, and of the processes that it has started. */
  readonly managerCpu: number;
  readonly childrenCpu: number;
  /** Of each server of the control plane, and the registry. */
  readonly serversCpu: Readonly<Record<string, number>>;
  readonly memory: MemoryPeaks;
  /** Milliseconds between two looks at the event loop, 10 where nothing delays it. */
  readonly loopP99: number;
  readonly loopMax: number;
  /** Requests of the work itself; leases and watches are counted separately. */
  readonly requests: number;
  /** Writes among them. */
  readonly writes: number;
  readonly leases: number;
  readonly watches: number;
  readonly byVerb: RequestCounts;
}

/**
 * What some work costs, from its start until nothing has been asked for a while afterwards. Event
 * loop delays are those of the work alone, memory's peaks those of the process up to now.
 */
export async function measureCost(
  bench: Measured,
  work: () => Promise<void>,
  quiet = longQuiet,
): Promise<Cost> {
  const { core, audit, token } = bench;
  await untilQuiet(bench, quiet);
  const position = await audit.position();
  const before = { pid: core.pid, ...cpuTime(core.pid) };
  const serversBefore = await serversCpu(bench);
  await core.loopDelay(token);
  const watched = watchMemory(() => core.pid, memorySample);
  await work();
  const loop = await core.loopDelay(token);
  await untilQuiet(bench, quiet);
  const memory = watched.stop();
  const cpu = cpuSince(before, core.pid);
  const servers = Object.entries(await serversCpu(bench)).map(([name, cpu]) => {
    return [name, cpu - (serversBefore[name] ?? 0)] as const;
  });
  const requests = (await audit.since(position)).filter((one) => !isForLooking(one));
  return {
    ...cpu,
    serversCpu: Object.fromEntries(servers),
    memory,
    loopP99: loop.p99,
    loopMax: loop.max,
    requests: requests.filter(isForWork).length,
    writes: requests.filter((one) => isForWork(one) && isWrite(one)).length,
    leases: requests.filter(isForLease).length,
    watches: requests.filter(({ verb }) => verb === 'watch').length,
    byVerb: countRequests(requests),
  };
}

async function serversCpu({ cluster }: Bench): Promise<Readonly<Record<string, number>>> {
  const state = await readState(layoutOf(cluster.dir));
  const servers = state?.processes ?? [];
  return Object.fromEntries(servers.map(({ name, pid }) => [name, cpuTime(pid).own]));
}

/** All of a process that was started meanwhile. */
function cpuSince(
  before: CpuTime & { readonly pid: number },
  pid: number,
): Pick<Cost, 'managerCpu' | 'childrenCpu'> {
  const now = cpuTime(pid);
  const then = before.pid === pid ? before : { own: 0, children: 0 };
  return { managerCpu: now.own - then.own, childrenCpu: now.children - then.children };
}

async function untilQuiet({ audit }: Bench, quiet: number): Promise<void> {
  for (;;) {
    const position = await audit.position();
    await delay(quiet);
    const requests = await audit.since(position);
    if (!requests.some(isForWork)) return;
  }
}
