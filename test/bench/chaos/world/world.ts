import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CoreProcess } from '../../core-process.ts';
import { appNames } from '../../scale/apps.ts';
import type { Bench } from '../../scale/bench.ts';
import { deleteApps, untilNoneIsLeft } from '../../scale/remove.ts';
import { ClusterParts } from '../cluster-parts.ts';
import { Network } from '../network.ts';
import { Supervisor } from '../supervisor.ts';
import { ApiProxy } from './api-proxy.ts';
import { ForeignObjects } from './foreign.ts';
import { RegistryProxy } from './registry-proxy.ts';
import { Webhooks } from './webhooks.ts';
import { Workload } from './workload.ts';

export interface WorldOptions {
  readonly apps: number;
  /** Foreign objects. */
  readonly foreign: number;
}

/** A cluster in use, core on it, and everything between them that can break. */
export interface World {
  readonly bench: Bench;
  readonly parts: ClusterParts;
  readonly core: CoreProcess;
  /** Between core and `api`. */
  readonly network: Network;
  /** Between `network` and the API server. */
  readonly api: ApiProxy;
  readonly registry: RegistryProxy;
  readonly workload: Workload;
  readonly foreign: ForeignObjects;
  /** The small file system that core's archives are on; undefined where none can be mounted. */
  readonly disk: string | undefined;
  /** Milliseconds by which core's clock is ahead. */
  setClock(ahead: number): Promise<void>;
}

const diskSize = '16m';

/** Starts a world, runs `use`, and stops it. Apps are being installed when `use` begins. */
export async function inWorld<T>(
  bench: Bench,
  options: WorldOptions,
  use: (world: World) => Promise<T>,
): Promise<T> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'rukpak-chaos-'));
  const sweep = (): void => rmSync(folder, { recursive: true, force: true });
  // Also where this process is interrupted.
  process.once('exit', sweep);
  stack.defer(() => {
    process.off('exit', sweep);
    sweep();
  });
  const clock = join(folder, 'clock');
  const registry = stack.use(await RegistryProxy.start(bench.cluster.registry));
  const api = stack.use(await ApiProxy.start(bench.cluster.kubeconfig));
  const network = stack.use(await Network.start(api.port));
  const kubeconfig = await writeKubeconfig(join(folder, 'kubeconfig'), { api, network });
  const core = stack.use(
    await CoreProcess.start({ kubeconfig, registry: registry.address }, ['--leader-elect'], {
      NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'shifted-clock.ts')).href}`,
      RUKPAK_CHAOS_CLOCK: clock,
    }),
  );
  const disk = mountSmallDisk(core.archives, stack);
  stack.use(new Supervisor(core));
  const { client } = bench.kube;
  stack.use(await Webhooks.start(client, { kubeconfig: bench.cluster.kubeconfig, folder }));
  const names = appNames(options.apps);
  const places = { registry: bench.cluster.registry, address: registry.address };
  const workload = stack.use(await Workload.start(client, names, places));
  const foreign = await ForeignObjects.create(client, appNames(options.foreign));
  const parts = await ClusterParts.open(bench.cluster.dir);
  const setClock = (ahead: number): Promise<void> => writeFile(clock, `${ahead}`);
  const world = { bench, parts, core, network, api, registry, workload, foreign, disk, setClock };
  const outcome = await use(world);
  const signal = AbortSignal.timeout(600_000);
  const installed = workload.apps.filter((app) => app.installed).map(({ name }) => name);
  await deleteApps({ kube: bench.kube, apps: installed }, signal);
  await untilNoneIsLeft(bench, signal);
  await foreign.delete();
  return outcome;
}

async function writeKubeconfig(
  path: string,
  { api, network }: Pick<World, 'api' | 'network'>,
): Promise<string> {
  const cluster = {
    server: `https://127.0.0.1:${network.port}`,
    'certificate-authority-data': Buffer.from(api.certificate).toString('base64'),
  };
  const name = 'chaos';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster }],
    contexts: [{ name, context: { cluster: name } }],
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** Needs root, as in CI; without it every disk to fill would be in use by others. */
function mountSmallDisk(folder: string, stack: AsyncDisposableStack): string | undefined {
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${diskSize}`, 'tmpfs', folder]);
  if (status !== 0) return undefined;
  const unmount = (): void => void spawnSync('umount', ['--lazy', folder]);
  // Before the folder is removed, also where this process is interrupted.
  process.prependOnceListener('exit', unmount);
  stack.defer(() => {
    process.off('exit', unmount);
    unmount();
  });
  return folder;
}
