import { type Dirent, readdirSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { withLock } from '../../../deploy/go-build/index.ts';
import { type Cluster, startCluster } from '../../../deploy/local/cluster/start-cluster.ts';
import { install } from '../../installation/install.ts';
import { DevManager } from './dev-manager.ts';
import { devClusterFolder } from './project.ts';

interface Development {
  /** The class's module; saving any file beside or below it restarts the manager. */
  readonly module: string;
  /** Folder of the project. */
  readonly folder: string;
  readonly say: (line: string) => void;
}

/**
 * Starts a control plane, and on it the stock manager with the class; restarts the manager after
 * every save. Ends all of it when the signal is aborted.
 */
export async function develop(options: Development, signal: AbortSignal): Promise<void> {
  const { folder, say } = options;
  const dir = devClusterFolder(folder);
  await mkdir(dirname(dir), { recursive: true });
  const lock = { purpose: 'running the class of this project', onProgress: say, signal };
  // A second command would have the same control plane, and delete it at its end.
  await withLock(`${dir}.dev.lock`, lock, async () => await developIn(dir, options, signal));
}

async function developIn(dir: string, options: Development, signal: AbortSignal): Promise<void> {
  const { say } = options;
  say('starting a control plane; the first time on a machine this can take ten minutes');
  // It would have been deleted at the end of the earlier command.
  const cluster = await startCluster({ dir, replaceFormer: true, onProgress: say, signal });
  try {
    await runOn(cluster, options, signal);
  } finally {
    say('stopping the control plane');
    await cluster.stop();
  }
}

async function runOn(
  cluster: Cluster,
  { module, folder, say }: Development,
  signal: AbortSignal,
): Promise<void> {
  const manager = await DevManager.create({ cluster, module, say });
  const { kubeconfig } = cluster;
  const { webhookUrl } = manager;
  const installed = { systemNamespace: 'rukpak-system', guardCrdDeletion: false, dryRun: false };
  await install({ kubeconfig, webhookUrl, ...installed }, { print: () => undefined, warn: say });
  const sources = dirname(module);
  // Before the class is loaded: what is saved meanwhile is not in it.
  const saved = saves(sources, signal);
  try {
    await manager.start(signal);
    say(`export KUBECONFIG=${kubeconfig}    # for kubectl in another terminal`);
    say(
      `npm run sample    # deploys sample/; a save in ${relative(folder, sources)}/ is taken up at once`,
    );
    for await (const file of saved) {
      say(`${file} was saved`);
      await manager.stop();
      await manager.start(signal);
    }
  } finally {
    await manager.stop();
  }
}

/**
 * Milliseconds between two looks at the files: file systems of containers and networks report no
 * changes, and a machine has few inotify instances, past which Node watches nothing without a word.
 */
const interval = 200;

/** Tests, hidden files and editors' temporary files do not change the running class. */
const unrelated = /\.test\.[cm]?[jt]s$|(^|\/)\.|~$|\.sw.$|(^|\/)\d+$|(^|\/)node_modules(\/|$)/;

/**
 * The last saved file of the folder or below, from now on, also before the first look; yields once
 * for simultaneous saves.
 */
export function saves(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  return savesSince(filesOf(folder), folder, signal);
}

async function* savesSince(
  before: ReadonlyMap<string, number>,
  folder: string,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let files = before;
  let saved: string | undefined;
  while (await passes(interval, signal)) {
    const now = filesOf(folder);
    const changed = lastChange(files, now);
    files = now;
    // Editors write a file more than once, and several at once.
    if (changed !== undefined) saved = changed;
    else if (saved !== undefined) {
      yield saved;
      saved = undefined;
    }
  }
}

/** Whether the time has passed before the signal. */
async function passes(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  return await delay(milliseconds, true, { signal }).catch(() => false);
}

/** When each file was written (milliseconds), by its path in the folder. */
function filesOf(folder: string): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  const visit = (path: string): void => {
    for (const entry of entriesOf(join(folder, path))) {
      const name = join(path, entry.name);
      if (unrelated.test(name)) continue;
      if (entry.isDirectory()) visit(name);
      else {
        // Editors replace files by renaming others.
        const stat = statSync(join(folder, name), { throwIfNoEntry: false });
        if (stat !== undefined) times.set(name, Math.max(stat.mtimeMs, stat.ctimeMs));
      }
    }
  };
  visit('');
  return times;
}

/** Of a folder that is gone: none. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The file that was written last, or one that is gone; undefined if all are as before. */
function lastChange(
  before: ReadonlyMap<string, number>,
  now: ReadonlyMap<string, number>,
): string | undefined {
  const written = [...now].filter(([name, time]) => before.get(name) !== time);
  const [last] = written.toSorted(([, a], [, b]) => b - a);
  return last?.[0] ?? [...before.keys()].find((name) => !now.has(name));
}
