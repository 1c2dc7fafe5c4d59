import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../core/controller.ts';
import { aborted } from '../../core/platform/clock.ts';
import type { KubeClient } from '../../core/platform/kube/index.ts';
import { emptyKeychain, RegistryAccess } from '../../core/registry/index.ts';
import {
  type CatalogControllers,
  type CatalogControllersOptions,
  catalogControllers,
} from '../../operators/catalogs/index.ts';
import { unpackCatalog } from '../../operators/catalogs/unpack/unpack-catalog.ts';
import { silentLogger } from './silent-logger.ts';

export interface ReplicaOptions {
  readonly client: KubeClient;
  /** Registry with plain HTTP. */
  readonly registry: string;
  readonly systemNamespace: string;
  /** Default: it leads. */
  readonly isFollower?: boolean;
  /** Kept at the stop; by default the replica has a directory of its own. */
  readonly cacheDir?: string;
  /** Without `unpack`, catalogs are unpacked in this process: the start of one takes most of a test. */
  readonly overrides?: Partial<CatalogControllersOptions>;
}

/** A process's part for catalogs, within the test's process. */
export class CatalogReplica {
  readonly controllers: CatalogControllers;
  readonly events: string[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<unknown>;
  readonly #ownDirectory: string | undefined;
  #port = 0;

  private constructor(options: ReplicaOptions, cacheDir: string) {
    const { client, registry, systemNamespace, isFollower = false, overrides = {} } = options;
    this.#ownDirectory = options.cacheDir === undefined ? cacheDir : undefined;
    this.controllers = catalogControllers({
      client,
      registry: new RegistryAccess({
        insecureRegistries: [registry],
        caCertificates: [],
        keychain: emptyKeychain,
        clock: systemClock,
      }),
      systemNamespace,
      cacheDir,
      externalAddress: 'http://catalogs.example',
      address: { host: '127.0.0.1', port: 0 },
      gcInterval: 3_600_000,
      events: { event: (_, { reason }) => this.events.push(reason) },
      clock: systemClock,
      logger: silentLogger,
      unpack: unpackCatalog,
      ...overrides,
    });
    const { reflectors, runnables, leader } = this.controllers;
    const { signal } = this.#stop;
    const parts = [...reflectors, ...runnables, ...(isFollower ? [] : [leader])];
    this.#running = Promise.all(
      parts.map(async (part) => {
        if (!reflectors.includes(part)) await untilReady(reflectors, signal);
        if (!signal.aborted) await part.run(signal);
      }),
    );
    this.#running.catch(() => undefined);
  }

  static async start(options: ReplicaOptions): Promise<CatalogReplica> {
    const cacheDir = options.cacheDir ?? (await mkdtemp(join(tmpdir(), 'catalog-replica-')));
    const replica = new CatalogReplica(options, cacheDir);
    replica.#port = (await replica.controllers.listening).port;
    return replica;
  }

  /** Requests a path of the content server. */
  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return await fetch(`http://127.0.0.1:${this.#port}${path}`, { headers });
  }

  /** The served catalog; fails while it is not served. */
  async blobsOf(name: string): Promise<readonly Record<string, unknown>[]> {
    const response = await this.get(`/catalogs/${name}/all.json`);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the replica stops'));
    await this.#running;
    if (this.#ownDirectory !== undefined) await rm(this.#ownDirectory, { recursive: true });
  }
}

async function untilReady(
  reflectors: CatalogControllers['reflectors'],
  signal: AbortSignal,
): Promise<void> {
  const ready = Promise.all(reflectors.map(async (reflector) => await reflector.ready?.(signal)));
  await Promise.race([ready.catch(() => undefined), aborted(signal)]);
}
