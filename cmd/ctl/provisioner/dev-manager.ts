import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { layoutOf } from '../../../deploy/local/cluster/layout.ts';
import { freePorts } from '../../../deploy/local/cluster/ports.ts';
import type { Cluster } from '../../../deploy/local/cluster/start-cluster.ts';
import { readableLine } from '../output/readable-line.ts';

interface DevManagerOptions {
  readonly cluster: Pick<Cluster, 'dir' | 'kubeconfig' | 'registry'>;
  /** The class's module. */
  readonly module: string;
  readonly say: (line: string) => void;
}

const grace = 10_000;
const pollInterval = 100;

// The same extension as this file: TypeScript from a checkout, JavaScript from dist.
const extension = extname(import.meta.url);
const program = fileURLToPath(new URL(`../../rukpak${extension}`, import.meta.url));
const endWithParent = new URL(`./end-with-parent${extension}`, import.meta.url).href;

/** `rukpak all` with one more class, in a process that can be restarted. */
export class DevManager {
  readonly #options: DevManagerOptions;
  readonly #ports: readonly number[];
  #process: ChildProcess | undefined;

  private constructor(options: DevManagerOptions, ports: readonly number[]) {
    this.#options = options;
    this.#ports = ports;
  }

  static async create(options: DevManagerOptions): Promise<DevManager> {
    return new DevManager(options, await freePorts(3, []));
  }

  get webhookUrl(): string {
    return `https://127.0.0.1:${this.#ports[2]}`;
  }

  /** Returns when the manager is ready, has ended because of the class, or is no longer needed. */
  async start(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { say } = this.#options;
    const startedAt = Date.now();
    const child = this.#spawn();
    while (!signal.aborted && isRunning(child)) {
      if (await this.#isReady()) {
        say(`the class runs, after ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
        return;
      }
      await delay(pollInterval);
    }
  }

  async stop(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || !isRunning(child)) return;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    // A class that never returns must not block the restart.
    const overdue = setTimeout(() => child.kill('SIGKILL'), grace);
    await ended;
    clearTimeout(overdue);
  }

  #spawn(): ChildProcess {
    const { cluster, say } = this.#options;
    const words = ['--import', endWithParent, program, 'all', ...this.#flags()];
    const child = spawn(process.execPath, words, {
      env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      // Ctrl-C goes to this process only, which then stops the manager in order. Its processes are a
      // group of their own.
      detached: true,
    });
    this.#process = child;
    for (const input of [child.stdout, child.stderr].filter((stream) => stream !== null)) {
      createInterface({ input }).on('line', (line) => say(readableLine(line)));
    }
    child.once('exit', () => {
      endGroup(child);
      if (this.#process === child) say('the manager has ended; the next save starts it again');
    });
    return child;
  }

  #flags(): readonly string[] {
    const { cluster, module } = this.#options;
    const [content, health, webhooks] = this.#ports;
    const { companions } = layoutOf(cluster.dir);
    return [
      `--provisioner=${module}`,
      `--http-bind-address=127.0.0.1:${content}`,
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--webhook-bind-address=127.0.0.1:${webhooks}`,
      `--provisioner-storage-dir=${join(companions, 'bundles')}`,
      `--upload-storage-dir=${join(companions, 'uploads')}`,
      `--insecure-registry=${cluster.registry}`,
    ];
  }

  async #isReady(): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${this.#ports[1]}/readyz`).catch(() => undefined);
    return answer?.ok === true;
  }
}

/**
 * Ends what a killed manager has left: it ends its worker processes itself otherwise, and one in an
 * endless loop would not notice that it has gone.
 */
function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has left none.
  }
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}
