import { open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startOf } from '../../core/platform/runtime/processes.ts';
import { isRunning } from '../local/cluster/processes.ts';
import type { Progress } from './go-build.ts';

const POLL_MILLISECONDS = 500;
const BEAT_MILLISECONDS = 5_000;
// Milliseconds; for holders on another machine with the same folder, whose process cannot be looked
// up.
const STALE_MILLISECONDS = 60_000;
const REMIND_MILLISECONDS = 15_000;

const holderSchema = z.object({ host: z.string(), pid: z.int(), started: z.string() });

async function acquire(file: string): Promise<boolean> {
  try {
    const handle = await open(file, 'wx');
    const started = (await startOf(process.pid)) ?? '';
    await handle.writeFile(JSON.stringify({ host: hostname(), pid: process.pid, started }));
    await handle.close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Whether the holder ended without releasing the lock. */
async function isStale(file: string): Promise<boolean> {
  try {
    const age = Date.now() - (await stat(file)).mtimeMs;
    if (age > STALE_MILLISECONDS) return true;
    const holder = holderSchema.safeParse(JSON.parse(await readFile(file, 'utf8')));
    return holder.success && holder.data.host === hostname() && !(await isRunning(holder.data));
  } catch {
    // The lock is being released or written now; the next check decides.
    return false;
  }
}

export interface LockOptions {
  /** The holder's work, for the message of a waiting process. */
  readonly purpose: string;
  readonly onProgress: Progress;
  readonly signal: AbortSignal;
}

async function wait(file: string, { purpose, onProgress, signal }: LockOptions): Promise<void> {
  let reminded = -Infinity;
  while (!(await acquire(file))) {
    signal.throwIfAborted();
    // Two processes that find it stale at once may both enter: that costs time but does no harm,
    // because the guarded work writes temporary files and renames them.
    if (await isStale(file)) await rm(file, { force: true });
    else if (Date.now() - reminded > REMIND_MILLISECONDS) {
      onProgress(`waiting for another process that is ${purpose}`);
      reminded = Date.now();
    }
    await sleep(POLL_MILLISECONDS, undefined, { signal });
  }
}

/** Runs `work` while no other process runs its own with the same lock file. */
export async function withLock<T>(
  file: string,
  options: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  await wait(file, options);
  const beat = setInterval(() => {
    const now = new Date();
    utimes(file, now, now).catch(() => {});
  }, BEAT_MILLISECONDS);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    await rm(file, { force: true });
  }
}
