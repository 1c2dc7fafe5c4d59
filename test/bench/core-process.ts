import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../deploy/local/cluster/ports.ts';
import type { Cluster } from '../../deploy/local/cluster/start-cluster.ts';
import { eventually } from '../helpers/eventually.ts';

const root = join(import.meta.dirname, '../..');

/** `rukpak core` on a cluster without webhooks. */
export class CoreProcess implements AsyncDisposable {
  readonly #process: ChildProcess;
  readonly #storage: string;

  private constructor(process: ChildProcess, storage: string) {
    this.#process = process;
    this.#storage = storage;
  }

  static async start({ kubeconfig, registry }: Cluster, flags: readonly string[]) {
    const [content, health] = await freePorts(2, []);
    const storage = await mkdtemp(join(tmpdir(), 'rukpak-bench-'));
    const child = spawn(
      process.execPath,
      [
        'cmd/rukpak.ts',
        'core',
        `--http-bind-address=127.0.0.1:${content}`,
        `--health-probe-bind-address=127.0.0.1:${health}`,
        `--provisioner-storage-dir=${storage}`,
        `--insecure-registry=${registry}`,
        '--zap-log-level=error',
        ...flags,
      ],
      {
        cwd: root,
        env: { ...process.env, KUBECONFIG: kubeconfig },
        stdio: ['ignore', 'ignore', 'inherit'],
      },
    );
    const core = new CoreProcess(child, storage);
    try {
      await eventually(async () => {
        const answer = await fetch(`http://127.0.0.1:${health}/readyz`);
        if (!answer.ok) throw new Error(`not ready: ${await answer.text()}`);
      });
    } catch (error) {
      await core[Symbol.asyncDispose]();
      throw error;
    }
    return core;
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGTERM');
      await ended;
    }
    await rm(this.#storage, { recursive: true, force: true });
  }
}
