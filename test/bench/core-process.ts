import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../../deploy/local/cluster/ports.ts';
import type { Cluster } from '../../deploy/local/cluster/start-cluster.ts';
import { eventually } from '../helpers/eventually.ts';
import { type MetricFamily, parseExposition, valueOf } from '../helpers/exposition.ts';

const root = join(import.meta.dirname, '../..');

/** How long a start may take, milliseconds; reads of it come fast, as they tell the time it took. */
const starting = { within: 180_000, every: 20 };

/** Milliseconds between two looks at the event loop: 10 where nothing delays it. */
export interface LoopDelay {
  readonly p99: number;
  readonly max: number;
}

let built: Promise<unknown> | undefined;

/** Compiled, as in the image: compiling sources at each start takes memory and time. */
async function build(): Promise<void> {
  await promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-b'], { cwd: root });
}

/** `rukpak core` on a cluster without webhooks; ports and storage outlive a restart. */
export class CoreProcess implements AsyncDisposable {
  readonly #cluster: Pick<Cluster, 'kubeconfig' | 'registry'>;
  readonly #flags: readonly string[];
  readonly #env: NodeJS.ProcessEnv;
  readonly #ports: readonly number[];
  readonly #storage: string;
  readonly #failure = new AbortController();
  #process: ChildProcess | undefined;
  /** The process to stop. */
  #leaving: ChildProcess | undefined;
  #loopDelay: LoopDelay = { p99: 0, max: 0 };

  private constructor(
    cluster: Pick<Cluster, 'kubeconfig' | 'registry'>,
    { flags, env }: { readonly flags: readonly string[]; readonly env: NodeJS.ProcessEnv },
    place: { readonly ports: readonly number[]; readonly storage: string },
  ) {
    this.#cluster = cluster;
    this.#flags = flags;
    this.#env = env;
    this.#ports = place.ports;
    this.#storage = place.storage;
    process.once('exit', this.#sweep);
  }

  /** Starts it and waits until it is ready; `env` is added to the environment. */
  static async start(
    cluster: Pick<Cluster, 'kubeconfig' | 'registry'>,
    flags: readonly string[],
    env: NodeJS.ProcessEnv = {},
  ): Promise<CoreProcess> {
    await (built ??= build());
    const ports = await freePorts(2, []);
    const storage = await mkdtemp(join(tmpdir(), 'rukpak-bench-'));
    const core = new CoreProcess(cluster, { flags, env }, { ports, storage });
    try {
      await core.launch();
      await core.ready();
    } catch (error) {
      await core[Symbol.asyncDispose]();
      throw error;
    }
    return core;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** The folder of the stored archives. */
  get archives(): string {
    return join(this.#storage, 'bundles');
  }

  /** Starts it without waiting, on the same ports and storage each time. */
  async launch(): Promise<void> {
    const [content, health] = this.#ports;
    const log = await open(this.#logFile, 'a');
    try {
      this.#process = spawn(
        process.execPath,
        [
          'dist/cmd/rukpak.js',
          'core',
          `--http-bind-address=127.0.0.1:${content}`,
          `--http-external-address=http://127.0.0.1:${content}`,
          `--health-probe-bind-address=127.0.0.1:${health}`,
          `--provisioner-storage-dir=${this.archives}`,
          `--upload-storage-dir=${join(this.#storage, 'uploads')}`,
          `--insecure-registry=${this.#cluster.registry}`,
          '--allow-source-address=127.0.0.0/8',
          ...this.#flags,
        ],
        {
          cwd: root,
          // As in the image.
          env: {
            ...process.env,
            MALLOC_ARENA_MAX: '1',
            KUBECONFIG: this.#cluster.kubeconfig,
            ...this.#env,
          },
          stdio: ['ignore', log.fd, log.fd],
        },
      );
    } finally {
      await log.close();
    }
    const child = this.#process;
    child.once('exit', (code) => {
      if (child === this.#leaving) return;
      this.#failure.abort(new Error(`rukpak core has ended by itself, exit code ${code}`));
    });
  }

  /** Aborted when the process ends unexpectedly; waits then fail at once. */
  get failure(): AbortSignal {
    return this.#failure.signal;
  }

  async ready(): Promise<void> {
    await eventually(async () => {
      if (!this.running) return;
      const answer = await fetch(`http://127.0.0.1:${this.#ports[1]}/readyz`);
      if (!answer.ok) throw new Error(`not ready: ${await answer.text()}\n${await this.log()}`);
    }, starting);
    if (!this.running) {
      throw new Error(`rukpak core ended:\n${await this.log()}`);
    }
  }

  /** The end of what it has printed. */
  async log(): Promise<string> {
    const text = await readFile(this.#logFile, 'utf8').catch(() => '');
    return text.slice(-10_000);
  }

  /** Maximum event loop delay since the last call, milliseconds. */
  async loopDelay(token: string): Promise<LoopDelay> {
    await this.metrics(token);
    const worst = this.#loopDelay;
    this.#loopDelay = { p99: 0, max: 0 };
    return worst;
  }

  /** Its own metrics. */
  async metrics(token: string): Promise<ReadonlyMap<string, MetricFamily>> {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`http://127.0.0.1:${this.#ports[0]}/metrics`, { headers });
    if (!answer.ok) throw new Error(`/metrics: ${answer.status} ${await answer.text()}`);
    const metrics = parseExposition(await answer.text());
    // The process resets these at each read.
    const p99 = valueOf(metrics, 'nodejs_eventloop_lag_p99_seconds') * 1000;
    const max = valueOf(metrics, 'nodejs_eventloop_lag_max_seconds') * 1000;
    const worst = this.#loopDelay;
    this.#loopDelay = { p99: Math.max(worst.p99, p99), max: Math.max(worst.max, max) };
    return metrics;
  }

  /** Ends it and waits for its end. */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const ended = this.ended();
    this.#leaving = this.#process;
    this.#process?.kill(signal);
    await ended;
  }

  get running(): boolean {
    const child = this.#process;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  /** Resolves at the end of the process that runs now. */
  async ended(): Promise<void> {
    if (this.#process !== undefined && this.running) await once(this.#process, 'exit');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end('SIGTERM');
    await rm(this.#storage, { recursive: true, force: true });
    process.off('exit', this.#sweep);
  }

  /** Where this process is interrupted. */
  readonly #sweep = (): void => {
    this.#process?.kill('SIGKILL');
    rmSync(this.#storage, { recursive: true, force: true });
  };

  get #logFile(): string {
    return join(this.#storage, 'core.log');
  }
}
