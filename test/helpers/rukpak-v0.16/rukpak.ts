import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringifyJson } from '../../../api/json.ts';
import { eventually } from '../eventually.ts';
import { workerPorts } from '../worker-ports.ts';
import type { RukpakPrograms } from './programs.ts';
import { type PulledImage, UnpackingApiServer } from './unpacking-api-server.ts';

export interface RukpakOptions {
  readonly programs: RukpakPrograms;
  readonly kubeconfig: string;
  readonly images: ReadonlyMap<string, PulledImage>;
}

/**
 * RukPak's own core and helm, as processes of this machine. Its webhooks listen on all addresses, at
 * a port that no flag changes: they are not run.
 */
export class Rukpak {
  readonly #options: RukpakOptions;
  readonly #folder: string;
  readonly #server: UnpackingApiServer;
  #processes: readonly ChildProcess[] = [];
  #uploads = '';
  log = '';

  static async start(options: RukpakOptions): Promise<Rukpak> {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-v0.16-'));
    const server = await UnpackingApiServer.start(options.kubeconfig, options.images);
    const rukpak = new Rukpak(options, folder, server);
    try {
      await rukpak.#start();
    } catch (error) {
      await rukpak.stop();
      throw error;
    }
    return rukpak;
  }

  private constructor(options: RukpakOptions, folder: string, server: UnpackingApiServer) {
    this.#options = options;
    this.#folder = folder;
    this.#server = server;
  }

  /** Sends the content of a Bundle whose source is an upload. */
  async upload(bundle: string, archive: Uint8Array): Promise<void> {
    const url = `${this.#uploads}/uploads/${bundle}.tgz`;
    const { status } = await fetch(url, { method: 'PUT', body: new Uint8Array(archive) });
    if (status !== 201) throw new Error(`PUT ${url} is answered by ${status}`);
  }

  /** Ends the programs; their files go, as with their pods. */
  async stop(): Promise<void> {
    for (const child of this.#processes) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await this.#server.stop();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const { core, helm } = this.#options.programs;
    const [health = 0, content = 0, helmHealth = 0, helmContent = 0] = await workerPorts(4);
    this.#uploads = `http://127.0.0.1:${content}`;
    const [bundles, uploads, charts] = ['bundles', 'uploads', 'charts'].map((name) =>
      join(this.#folder, name),
    );
    for (const folder of [bundles, uploads, charts]) await mkdir(folder ?? '');
    const servers = (probes: number, port: number) => [
      `--health-probe-bind-address=127.0.0.1:${probes}`,
      `--http-bind-address=127.0.0.1:${port}`,
      `--http-external-address=http://127.0.0.1:${port}`,
      `--base-upload-manager-url=${this.#uploads}`,
      '--system-namespace=rukpak-system',
    ];
    const env = { PATH: process.env['PATH'], KUBECONFIG: await this.#kubeconfig() };
    const gate = '--feature-gates=BundleDeploymentHealth=true';
    const stores = [`--provisioner-storage-dir=${bundles}`, `--upload-storage-dir=${uploads}`];
    this.#processes = [
      this.#spawn(core, [...servers(health, content), ...stores, gate], env),
      this.#spawn(helm, [...servers(helmHealth, helmContent), `--storage-dir=${charts}`], env),
    ];
    for (const port of [health, helmHealth]) await this.#ready(port);
  }

  #spawn(program: string, args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
    const child = spawn(program, args, {
      env,
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (this.log += chunk.toString()));
    }
    return child;
  }

  async #ready(port: number): Promise<void> {
    await eventually(async () => {
      const ended = this.#processes.some(({ exitCode }) => exitCode !== null);
      if (ended) throw new Error(`RukPak has ended:\n${this.log}`);
      const { ok } = await fetch(`http://127.0.0.1:${port}/readyz`);
      if (!ok) throw new Error(`RukPak is not ready:\n${this.log}`);
    });
  }

  async #kubeconfig(): Promise<string> {
    const file = join(this.#folder, 'kubeconfig');
    const name = 'rukpak';
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': name,
      clusters: [{ name, cluster: { server: this.#server.url } }],
      contexts: [{ name, context: { cluster: name, user: name } }],
      users: [{ name, user: {} }],
    };
    await writeFile(file, stringifyJson(config));
    return file;
  }
}
