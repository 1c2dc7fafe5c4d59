import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { workerPorts } from './worker-ports.ts';

const root = join(import.meta.dirname, '../..');

export interface ReplicaOptions {
  readonly kubeconfig: string;
  readonly registry: string;
  /** Of the Service in front of all replicas. */
  readonly externalAddress: string;
}

/** One `rukpak core --leader-elect` of several, with ports and storage of its own. */
export class Replica {
  /** Where its content server listens. */
  readonly address: string;
  readonly #process: ChildProcess;
  readonly #storage: string;
  readonly #healthAddress: string;
  #log = '';

  private constructor(process: ChildProcess, storage: string, ports: readonly number[]) {
    this.#process = process;
    this.#storage = storage;
    this.address = `http://127.0.0.1:${ports[0]}`;
    this.#healthAddress = `http://127.0.0.1:${ports[1]}`;
    for (const stream of [process.stdout, process.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.#log += chunk.toString('utf8')));
    }
  }

  /** Starts one without any content, and waits until it is ready. */
  static async start(options: ReplicaOptions): Promise<Replica> {
    const ports = await workerPorts(2);
    const storage = await mkdtemp(join(tmpdir(), 'rukpak-replica-'));
    const child = spawn(
      process.execPath,
      [
        'cmd/rukpak.ts',
        'core',
        '--leader-elect',
        '--system-namespace=rukpak-system',
        `--http-bind-address=127.0.0.1:${ports[0]}`,
        `--http-external-address=${options.externalAddress}`,
        `--health-probe-bind-address=127.0.0.1:${ports[1]}`,
        `--provisioner-storage-dir=${join(storage, 'bundles')}`,
        `--upload-storage-dir=${join(storage, 'uploads')}`,
        `--insecure-registry=${options.registry}`,
        '--allow-source-address=127.0.0.0/8',
      ],
      {
        cwd: root,
        env: { ...process.env, KUBECONFIG: options.kubeconfig },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    const replica = new Replica(child, storage, ports);
    try {
      await replica.#ready();
    } catch (error) {
      await replica.stop();
      throw error;
    }
    return replica;
  }

  get leads(): boolean {
    return this.running && this.#log.includes('"leading"');
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Names of the stored archives, sorted. */
  async archives(): Promise<readonly string[]> {
    const files = await readdir(join(this.#storage, 'bundles'));
    return files.filter((file) => file.endsWith('.tgz')).toSorted();
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Ends it gracefully; the exit code. */
  async terminate(): Promise<number | null> {
    await this.#end('SIGTERM');
    return this.#process.exitCode;
  }

  /** Ends it and removes its storage. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    await rm(this.#storage, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    await eventually(async () => {
      if (!this.running) throw new Error(`rukpak core ended:\n${this.#log}`);
      const answer = await fetch(`${this.#healthAddress}/readyz`);
      if (!answer.ok) throw new Error(`not ready: ${await answer.text()}\n${this.#log}`);
    });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (!this.running) return;
    const ended = once(this.#process, 'exit');
    this.#process.kill(signal);
    await ended;
  }
}
