import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Progress, withLock } from '../../go-build/index.ts';
import { findBinaries } from '../binaries/find-binaries.ts';
import { SERVICE_RANGE } from './components/apiserver.ts';
import { CONTROLLER_RATE } from './components/controller-manager.ts';
import { launch } from './launch.ts';
import type { Layout } from './layout.ts';
import { entriesOf, layoutOf } from './layout.ts';
import { freePorts, isFree, LOOPBACK } from './ports.ts';
import { isRunning } from './processes.ts';
import { PartFailedError } from './readiness.ts';
import type { ClusterState } from './state.ts';
import { readState } from './state.ts';
import { stopCluster } from './stop-cluster.ts';

const DEFAULT_PORT = 16_443;
const LAUNCH_ATTEMPTS = 5;

export interface StartOptions {
  /** The cluster's folder; created if missing, otherwise empty or a running cluster's. */
  readonly dir: string;
  /** Port of the API server (default: 16443 if it is free, otherwise a random one). */
  readonly port?: number;
  /** Port of the registry (default: a free one). */
  readonly registryPort?: number;
  /** Write one line per request to `audit.log` in the folder. */
  readonly audit?: boolean;
  /**
   * Requests per second of kube-controller-manager (default: 500; Kubernetes' own default is 20).
   */
  readonly controllerRate?: number;
  /**
   * Range of Services among the loopback addresses (default: 127.96.0.0/16). Clusters on one
   * machine need different ranges.
   */
  readonly serviceRange?: string;
  /** Delete a former cluster in the folder that is not up, with its data (default: refuse). */
  readonly replaceFormer?: boolean;
  readonly onProgress?: Progress;
  readonly signal?: AbortSignal;
}

/** A control plane on the loopback address that outlives the process that started it. */
export interface Cluster {
  readonly dir: string;
  /** File of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** URL of the API server. */
  readonly server: string;
  /** `host:port` of the OCI registry, which uses plain HTTP. */
  readonly registry: string;
  /** Path of a suitable kubectl. */
  readonly kubectl: string;
  /** The audit log; written only if requested at the start. */
  readonly auditLog: string;
  /** Whether it was running already. */
  readonly reused: boolean;
  /** Ends its processes and removes its folder. */
  stop(): Promise<void>;
}

function clusterOf(layout: Layout, state: ClusterState, reused: boolean): Cluster {
  return {
    dir: layout.dir,
    kubeconfig: layout.kubeconfig,
    server: state.server,
    registry: state.registry,
    kubectl: state.kubectl,
    auditLog: layout.audit,
    reused,
    stop: async () => {
      await stopCluster(layout.dir);
    },
  };
}

/** The running cluster of this folder; undefined otherwise. */
export async function runningCluster(dir: string): Promise<Cluster | undefined> {
  const layout = layoutOf(resolve(dir));
  const state = await readState(layout);
  if (state === undefined || !state.ready) return undefined;
  const alive = await Promise.all(state.processes.map(isRunning));
  return alive.every(Boolean) ? clusterOf(layout, state, true) : undefined;
}

/** @throws Error if the folder has a former cluster that must not be replaced, or other files. */
async function clear({ layout, replaceFormer = false, onProgress }: Request): Promise<void> {
  const former = await readState(layout);
  if (former !== undefined) {
    const problem = `the cluster in ${layout.dir} is not up, because ${await whyNotUp(former)}`;
    if (!replaceFormer) {
      throw new Error(
        `${problem}: nothing was changed; "npm run cluster -- down --dir ${layout.dir}" removes it with its data`,
      );
    }
    onProgress(`${problem}: it is replaced by a new one`);
    await stopCluster(layout.dir);
  }
  if ((await entriesOf(layout.dir)).length > 0) {
    throw new Error(
      `${layout.dir} contains files that do not belong to a cluster; name an empty folder`,
    );
  }
}

async function whyNotUp({ ready, processes }: ClusterState): Promise<string> {
  if (!ready) return 'its start did not finish';
  const alive = await Promise.all(processes.map(isRunning));
  const ended = processes.filter((_, index) => !alive[index]).map(({ name }) => name);
  return ended.length === 1
    ? `${ended.join()} has ended`
    : `${ended.slice(0, -1).join(', ')} and ${ended.at(-1)} have ended`;
}

async function choosePort(wanted: number | undefined): Promise<number> {
  if (wanted !== undefined) {
    if (await isFree(wanted)) return wanted;
    throw new Error(`port ${wanted} on ${LOOPBACK} is in use; name a free one or none`);
  }
  if (await isFree(DEFAULT_PORT)) return DEFAULT_PORT;
  const [port = DEFAULT_PORT] = await freePorts(1, []);
  return port;
}

interface Request extends StartOptions {
  readonly layout: Layout;
  readonly onProgress: Progress;
  readonly signal: AbortSignal;
}

/** Another process may take a port between the check and the start of the server. */
function lostPort(error: unknown): boolean {
  return error instanceof PartFailedError && error.message.includes('address already in use');
}

async function startNew(request: Request): Promise<Cluster> {
  const { layout, onProgress, signal, registryPort, audit = false } = request;
  const { serviceRange = SERVICE_RANGE, controllerRate = CONTROLLER_RATE } = request;
  await clear(request);
  const binaries = await findBinaries({ onProgress, signal });
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(request.port);
    try {
      const state = await launch({
        layout,
        binaries,
        port,
        registryPort,
        audit,
        controllerRate,
        serviceRange,
        onProgress,
        signal,
      });
      return clusterOf(layout, state, false);
    } catch (error) {
      const retry = lostPort(error) && attempt < LAUNCH_ATTEMPTS;
      await stopCluster(layout.dir, { keepFolder: !retry });
      if (!retry) throw error;
      onProgress('another process took one of the ports; trying others');
    }
  }
}

/**
 * Starts etcd, API server, controller manager, scheduler, kwok with one node and an OCI registry,
 * and returns when all are ready. Returns a running cluster of the folder unchanged. The error of a
 * failing part contains its log ({@link PartFailedError}); the other parts are stopped.
 */
export async function startCluster(options: StartOptions): Promise<Cluster> {
  const { onProgress = () => {}, signal = new AbortController().signal } = options;
  const layout = layoutOf(resolve(options.dir));
  await mkdir(dirname(layout.dir), { recursive: true });
  const purpose = `starting a cluster in ${layout.dir}`;
  return withLock(`${layout.dir}.lock`, { purpose, onProgress, signal }, async () => {
    const up = await runningCluster(layout.dir);
    return up ?? startNew({ ...options, layout, onProgress, signal });
  });
}
