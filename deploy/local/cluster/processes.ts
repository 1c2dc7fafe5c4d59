import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { startOf } from '../../../core/platform/runtime/processes.ts';

const POLL_MILLISECONDS = 50;

/** One server of the control plane, to be started. */
export interface Part {
  readonly name: string;
  readonly binary: string;
  readonly args: readonly string[];
  readonly log: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A started process, distinguishable from a later one with the same pid. */
export interface ProcessRecord {
  readonly name: string;
  readonly pid: number;
  /** Start time in the system's format. */
  readonly started: string;
  readonly log: string;
}

/** Whether exactly the recorded process still runs. */
export async function isRunning(record: Pick<ProcessRecord, 'pid' | 'started'>): Promise<boolean> {
  return (await startOf(record.pid)) === record.started;
}

/** Starts a server that outlives this process, with its output in its log. */
export async function startPart(part: Part): Promise<ProcessRecord> {
  const log = await open(part.log, 'a', 0o600);
  const { PATH, HOME, GOGC } = process.env;
  try {
    const child = spawn(part.binary, part.args, {
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
      // The user's ETCD_*, REGISTRY_* or KUBECONFIG must not affect this cluster.
      env: { PATH, HOME, GOGC, ...part.env },
    });
    const failure = new Promise<never>((_, reject) => {
      child.once('error', reject);
    });
    const spawned = new Promise<void>((resolve) => {
      child.once('spawn', resolve);
    });
    await Promise.race([spawned, failure]);
    child.unref();
    const { pid } = child;
    if (pid === undefined) throw new Error('the system gave no process id');
    // A process that ended at once has no start time; it is recorded as ended.
    return { name: part.name, pid, started: (await startOf(pid)) ?? 'ended', log: part.log };
  } catch (error) {
    throw new Error(`cannot run ${part.name} (${part.binary}): ${String(error)}`, { cause: error });
  } finally {
    await log.close();
  }
}

async function signal(record: ProcessRecord, name: NodeJS.Signals): Promise<void> {
  if (!(await isRunning(record))) return;
  try {
    process.kill(record.pid, name);
  } catch {
    // It ended between the check and the signal.
  }
}

async function allEnded(records: readonly ProcessRecord[]): Promise<boolean> {
  const running = await Promise.all(records.map(isRunning));
  return !running.includes(true);
}

async function ended(records: readonly ProcessRecord[], milliseconds: number): Promise<boolean> {
  const deadline = Date.now() + milliseconds;
  while (!(await allEnded(records))) {
    if (Date.now() >= deadline) return false;
    await sleep(POLL_MILLISECONDS);
  }
  return true;
}

/**
 * Ends exactly the recorded processes: with SIGTERM, and with SIGKILL after `graceMilliseconds`.
 */
export async function stopProcesses(
  records: readonly ProcessRecord[],
  graceMilliseconds: number,
): Promise<void> {
  await Promise.all(records.map((record) => signal(record, 'SIGTERM')));
  if (await ended(records, graceMilliseconds)) return;
  await Promise.all(records.map((record) => signal(record, 'SIGKILL')));
  if (await ended(records, graceMilliseconds)) return;
  const left = records.map(({ name, pid }) => `${name} (pid ${pid})`).join(', ');
  throw new Error(`one of these processes does not end, not even by SIGKILL: ${left}`);
}
