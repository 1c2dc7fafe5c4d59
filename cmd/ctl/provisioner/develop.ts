import { watch } from 'node:fs';
import { dirname, relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
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
  say('starting a control plane; the first time on a machine this can take ten minutes');
  const dir = devClusterFolder(folder);
  const cluster = await startCluster({ dir, onProgress: say, signal });
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
  await install({ kubeconfig, webhookUrl, ...installed }, () => undefined);
  try {
    await manager.start(signal);
    say(`export KUBECONFIG=${kubeconfig}    # for kubectl in another terminal`);
    const sources = dirname(module);
    say(
      `npm run sample    # deploys sample/; a save in ${relative(folder, sources)}/ is taken up at once`,
    );
    for await (const file of saves(sources, signal)) {
      say(`${file} was saved`);
      await manager.stop();
      await manager.start(signal);
    }
  } finally {
    await manager.stop();
  }
}

/** Milliseconds: editors write a file more than once, and several at once. */
const settling = 100;

/** Tests, hidden files and editors' temporary files do not change the running class. */
const unrelated = /\.test\.[cm]?[jt]s$|(^|\/)\.|~$|\.sw.$|(^|\/)\d+$/;

/** The last saved file of the folder or below; yields once for simultaneous saves. */
export async function* saves(folder: string, signal: AbortSignal): AsyncGenerator<string> {
  let saved = '';
  let happened = Promise.withResolvers<void>();
  const watcher = watch(folder, { recursive: true }, (_event, name) => {
    if (name === null || unrelated.test(name)) return;
    saved = name;
    happened.resolve();
  });
  const stop = (): void => happened.resolve();
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      await happened.promise;
      if (signal.aborted) return;
      await delay(settling);
      happened = Promise.withResolvers();
      yield saved;
      if (signal.aborted) return;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    watcher.close();
  }
}
