import { rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import { entriesOf, layoutOf } from './layout.ts';
import { stopProcesses } from './processes.ts';
import { readState } from './state.ts';

const GRACE_MILLISECONDS = 5_000;
const COMPANION_GRACE_MILLISECONDS = 20_000;

// The API server ends quickly only while etcd still answers.
const LAST = new Set(['etcd']);

export interface StopOptions {
  /** Keep the folder with its logs. */
  readonly keepFolder?: boolean;
}

/**
 * Ends exactly the processes recorded in the folder and removes it; false when there is no cluster.
 * Refuses another folder and leaves it unchanged.
 */
export async function stopCluster(dir: string, options: StopOptions = {}): Promise<boolean> {
  const layout = layoutOf(resolve(dir));
  const state = await readState(layout);
  if (state === undefined) {
    if ((await entriesOf(layout.dir)).length === 0 || options.keepFolder === true) return false;
    throw new Error(
      `${layout.dir} is not the folder of a cluster (no cluster.json); nothing was removed`,
    );
  }
  const { processes, companions } = state;
  // They still send requests to the API server when they end.
  await stopProcesses(companions, COMPANION_GRACE_MILLISECONDS);
  const first = processes.filter(({ name }) => !LAST.has(name));
  await stopProcesses(first, GRACE_MILLISECONDS);
  const last = processes.filter(({ name }) => LAST.has(name));
  await stopProcesses(last, GRACE_MILLISECONDS);
  if (options.keepFolder !== true) await rm(layout.dir, { recursive: true, force: true });
  return true;
}
