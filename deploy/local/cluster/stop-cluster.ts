import { rm, rmdir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { entriesOf, type Layout, layoutOf } from './layout.ts';
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

interface Stopped {
  /** What the folder has besides the cluster's files; it stays, with the folder. */
  readonly kept: readonly string[];
}

/**
 * Ends exactly the processes recorded in the folder and removes the cluster's files; undefined when
 * there is no cluster. Refuses another folder and leaves it unchanged.
 */
export async function stopCluster(
  dir: string,
  options: StopOptions = {},
): Promise<Stopped | undefined> {
  const layout = layoutOf(resolve(dir));
  const state = await readState(layout);
  if (state === undefined) {
    if ((await entriesOf(layout.dir)).length === 0 || options.keepFolder === true) {
      return undefined;
    }
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
  return { kept: options.keepFolder === true ? [] : await removeFiles(layout) };
}

/** Left by a process that was killed while it wrote, and by the rotation of the audit log. */
const leftover = /^(?:cluster|content-server)\.json\.\d+\.tmp$|^audit-\d[\dT.-]*\.log$/;

/** Returns what does not belong to the cluster, and stays. */
async function removeFiles({ dir, state, ...paths }: Layout): Promise<readonly string[]> {
  const own = new Set(Object.values(paths).map((path) => basename(path)));
  for (const name of await entriesOf(dir)) {
    const isOwn = own.has(name) || leftover.test(name);
    if (isOwn) await rm(join(dir, name), { recursive: true, force: true });
  }
  // Last: until then another attempt finds a cluster here.
  await rm(state, { force: true });
  const kept = await entriesOf(dir);
  if (kept.length === 0) await rmdir(dir);
  return kept.toSorted();
}
