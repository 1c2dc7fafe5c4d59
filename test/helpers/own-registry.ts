import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findBinaries } from '../../deploy/local/binaries/find-binaries.ts';
import { eventually } from './eventually.ts';
import { workerPorts } from './worker-ports.ts';

export interface OwnRegistryOptions {
  /** For its files; the caller's to remove. Registries of one folder have the same images. */
  readonly dir: string;
  /** The lines of an htpasswd file, bcrypt only. */
  readonly htpasswd?: string;
  /** PEM; plain HTTP without it. */
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** The real registry in a process of its own, for what the cluster's does not do. */
export class OwnRegistry {
  readonly host: string;
  readonly #process: ChildProcess;

  private constructor(host: string, process: ChildProcess) {
    this.host = host;
    this.#process = process;
  }

  static async start(options: OwnRegistryOptions): Promise<OwnRegistry> {
    const { signal } = new AbortController();
    const { registry: binary } = await findBinaries({ onProgress: () => undefined, signal });
    const [port] = await workerPorts(1);
    const host = `127.0.0.1:${port}`;
    const config = await writeConfig(options, host);
    const child = spawn(binary, ['serve', config], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { OTEL_TRACES_EXPORTER: 'none' },
    });
    const registry = new OwnRegistry(host, child);
    let log = '';
    child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString('utf8')));
    try {
      await eventually(() => {
        if (child.exitCode !== null) throw new Error(`the registry ended: ${log}`);
        if (!log.includes('listening on')) throw new Error(`the registry is not up: ${log}`);
      });
    } catch (error) {
      await registry.stop();
      throw error;
    }
    return registry;
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.#process.kill('SIGKILL');
    await once(this.#process, 'exit');
  }
}

async function writeConfig(
  { dir, htpasswd, tls }: OwnRegistryOptions,
  addr: string,
): Promise<string> {
  const file = (name: string): string => join(dir, `${addr.replace(':', '-')}-${name}`);
  if (htpasswd !== undefined) await writeFile(file('htpasswd'), htpasswd);
  if (tls !== undefined) {
    await writeFile(file('tls.key'), tls.key, { mode: 0o600 });
    await writeFile(file('tls.crt'), tls.cert);
  }
  const config = {
    version: 0.1,
    log: { level: 'info', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(dir, 'images') } },
    ...(htpasswd === undefined
      ? {}
      : { auth: { htpasswd: { realm: 'tests', path: file('htpasswd') } } }),
    http: {
      addr,
      secret: 'tests',
      ...(tls === undefined ? {} : { tls: { key: file('tls.key'), certificate: file('tls.crt') } }),
    },
  };
  await writeFile(file('config.yaml'), stringify(config));
  return file('config.yaml');
}
