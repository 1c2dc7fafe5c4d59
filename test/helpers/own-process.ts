import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { workerPorts } from './worker-ports.ts';

export interface OwnProcessOptions {
  readonly kubeconfig: string;
  readonly registry: string;
  /** Of a class that runs itself: `src/main.ts` is in it. */
  readonly folder: string;
}

/** A class as a process of its own, as its Deployment starts it. */
export class OwnProcess {
  readonly #process: ChildProcess;
  readonly #storage: string;
  readonly contentAddress: string;
  #log = '';

  private constructor(child: ChildProcess, storage: string, contentAddress: string) {
    this.#process = child;
    this.#storage = storage;
    this.contentAddress = contentAddress;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.#log += chunk.toString('utf8')));
    }
  }

  static async start({ kubeconfig, registry, folder }: OwnProcessOptions): Promise<OwnProcess> {
    const storage = await mkdtemp(join(tmpdir(), 'rukpak-own-process-'));
    const [content, health] = await workerPorts(2);
    const contentAddress = `http://127.0.0.1:${content}`;
    const env = {
      PATH: process.env['PATH'],
      KUBECONFIG: kubeconfig,
      INSECURE_REGISTRIES: registry,
      CONTENT_DIRECTORY: storage,
      CONTENT_BIND_ADDRESS: `127.0.0.1:${content}`,
      CONTENT_ADDRESS: contentAddress,
      HEALTH_BIND_ADDRESS: `127.0.0.1:${health}`,
    };
    const child = spawn(process.execPath, ['src/main.ts'], { cwd: folder, env, stdio: 'pipe' });
    const own = new OwnProcess(child, storage, contentAddress);
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`the process ended:\n${own.log}`);
      const answer = await fetch(`http://127.0.0.1:${health}/readyz`);
      if (!answer.ok) throw new Error(`not ready: ${await answer.text()}\n${own.log}`);
    });
    return own;
  }

  get log(): string {
    return this.#log;
  }

  /** Ends it as Kubernetes does; its exit code. */
  async stop(): Promise<number | null> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const ended = once(this.#process, 'exit');
      this.#process.kill('SIGTERM');
      await ended;
    }
    await rm(this.#storage, { recursive: true, force: true });
    return this.#process.exitCode;
  }
}
