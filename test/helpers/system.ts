import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crdWebhookConfigurations } from '../../cmd/flags/webhook-flags.ts';
import { connect, isNotFound } from '../../core/platform/kube/index.ts';
import { ClusterClient } from './cluster-client.ts';
import { eventually } from './eventually.ts';
import { aBundleDeployment, anImage } from './objects.ts';
import { RukpakInProcess, type RukpakProcess, type RukpakRun } from './rukpak-run.ts';
import { workerPorts } from './worker-ports.ts';

const webhookConfigurationResource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
} as const;

const mutatingConfigurationResource = {
  ...webhookConfigurationResource,
  kind: 'MutatingWebhookConfiguration',
  plural: 'mutatingwebhookconfigurations',
} as const;

const openSources = ['--allow-unscoped-source-secrets', '--allow-source-address=127.0.0.0/8,::1'];

export interface SystemOptions {
  readonly kubeconfig: string;
  readonly registry: string;
  /** More flags for `rukpak all`. */
  readonly flags?: readonly string[];
  /** Sources show Secrets, and connect, to no more than by default; servers of tests are on this machine. */
  readonly restrictSources?: boolean;
  /** More flags for `rukpak install`. */
  readonly installFlags?: readonly string[];
  /** `RukpakProcess` for what is killed or measured; in this process otherwise. */
  readonly run?: typeof RukpakProcess | typeof RukpakInProcess;
}

/** The system as a user has it on a laptop: `rukpak install`, then `rukpak all`. */
export class System {
  readonly #options: SystemOptions;
  readonly #ports: readonly number[];
  readonly #storage: string;
  #run: RukpakRun | undefined;
  /** Of the runs before. */
  #formerLog = '';

  private constructor(options: SystemOptions, ports: readonly number[], storage: string) {
    this.#options = options;
    this.#ports = ports;
    this.#storage = storage;
  }

  static async start(options: SystemOptions): Promise<System> {
    const ports = await workerPorts(4);
    const storage = await mkdtemp(join(tmpdir(), 'rukpak-system-'));
    const system = new System(options, ports, storage);
    try {
      await system.#install();
      await system.restart();
    } catch (error) {
      await system.stop();
      throw error;
    }
    return system;
  }

  get log(): string {
    return this.#formerLog + (this.#run?.log ?? '');
  }

  /** Of its own process. */
  get pid(): number | undefined {
    return this.#run?.pid;
  }

  /** The folder of the stored archives; it survives a restart. */
  get archives(): string {
    return join(this.#storage, 'bundles');
  }

  /** Where the content server listens. */
  get contentAddress(): string {
    return `http://127.0.0.1:${this.#ports[0]}`;
  }

  /** Where the API server reaches the webhooks. */
  get webhookAddress(): string {
    return `https://127.0.0.1:${this.#ports[2]}`;
  }

  /** Where the content of catalogs is served, as soon as their kinds are. */
  get catalogsAddress(): string {
    return `http://127.0.0.1:${this.#ports[3]}`;
  }

  /** Where `/healthz` and `/readyz` are. */
  get healthAddress(): string {
    return `http://127.0.0.1:${this.#ports[1]}`;
  }

  /** Starts it again on the same ports and storage, and waits until it is ready. */
  async restart(flags?: readonly string[]): Promise<void> {
    this.launch(flags);
    await this.ready();
  }

  /** Starts it without waiting. */
  launch(flags = this.#options.flags ?? []): void {
    const [content, health, webhook, catalogs] = this.#ports;
    const args = [
      'all',
      `--http-bind-address=127.0.0.1:${content}`,
      `--http-external-address=${this.contentAddress}`,
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--webhook-bind-address=127.0.0.1:${webhook}`,
      `--provisioner-storage-dir=${this.archives}`,
      `--upload-storage-dir=${join(this.#storage, 'uploads')}`,
      `--catalogs-server-addr=127.0.0.1:${catalogs}`,
      `--cache-dir=${join(this.#storage, 'catalogs')}`,
      `--insecure-registry=${this.#options.registry}`,
      ...(this.#options.restrictSources === true ? [] : openSources),
      ...flags,
    ];
    this.#formerLog = this.log;
    const { kubeconfig, run: Run = RukpakInProcess } = this.#options;
    this.#run = new Run(args, kubeconfig);
  }

  async ready(): Promise<void> {
    await eventually(async () => {
      if (this.#run?.isRunning !== true) throw new Error(`rukpak all ended:\n${this.log}`);
      const answer = await fetch(`http://127.0.0.1:${this.#ports[1]}/readyz`);
      if (!answer.ok) throw new Error(`not ready: ${await answer.text()}\n${this.log}`);
    });
    await this.#webhooksAreTrusted();
  }

  /** The API server reads the authority of the webhooks a moment after it was written. */
  async #webhooksAreTrusted(): Promise<void> {
    const kube = connect({ kubeconfig: this.#options.kubeconfig, userAgent: 'tests' });
    const path = '/apis/core.rukpak.io/v1alpha1/bundledeployments?dryRun=All';
    const body = aBundleDeployment({ name: 'webhooks-are-trusted', source: anImage('app:v1') });
    try {
      await eventually(async () => {
        await kube.client.request({ method: 'POST', path, body }).catch((error: unknown) => {
          if (String(error).includes('failed calling webhook')) throw error;
        });
      });
    } finally {
      await kube.close();
    }
  }

  /** Ends it at once, as a crash would. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Ends it gracefully; the exit code. */
  async terminate(): Promise<number | null> {
    await this.#end('SIGTERM');
    return this.#run?.exitCode ?? null;
  }

  /**
   * Ends it and removes its storage; what makes others wait for its answers goes too. Before, it has
   * to be done with what is being deleted: nobody else takes its finalizers away.
   */
  async stop(): Promise<void> {
    if (this.#run?.isRunning === true) await this.#deletionsAreDone();
    await this.#end('SIGTERM');
    await this.#removeWebhooks();
    await rm(this.#storage, { recursive: true, force: true });
  }

  async #deletionsAreDone(): Promise<void> {
    const client = ClusterClient.of(this.#options.kubeconfig);
    await eventually(async () => {
      // Its kinds may be gone too.
      const objects = await client.list('bundledeployments,bundles').catch(() => []);
      const uids = new Set(objects.map(({ metadata }) => metadata.uid));
      const going = objects.filter(({ metadata: { deletionTimestamp, ownerReferences = [] } }) => {
        const hasNoOwner = ownerReferences.some(({ uid }) => !uids.has(uid));
        return deletionTimestamp !== undefined || hasNoOwner;
      });
      const names = going.map(({ kind, metadata: { name } }) => `${kind} ${name}`);
      if (names.length > 0) throw new Error(`not deleted yet: ${names.join(', ')}`);
    });
  }

  async #install(): Promise<void> {
    const { installFlags = [], kubeconfig } = this.#options;
    const url = `--webhook-url=${this.webhookAddress}`;
    const run = new RukpakInProcess(['install', url, ...installFlags], kubeconfig);
    await run.ended;
    if (run.exitCode !== 0) throw new Error(`rukpak install failed:\n${run.log}`);
  }

  async #removeWebhooks(): Promise<void> {
    const { kubeconfig } = this.#options;
    const kube = connect({ kubeconfig, userAgent: 'tests' });
    try {
      const names = ['rukpak-validating-webhook-configuration', ...crdWebhookConfigurations(true)];
      const configurations = [
        [mutatingConfigurationResource, 'rukpak-mutating-webhook-configuration'] as const,
        ...names.map((name) => [webhookConfigurationResource, name] as const),
      ];
      for (const [resource, name] of configurations) {
        await kube.client.delete(resource, { name }).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      }
    } finally {
      await kube.close();
    }
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (this.#run?.isRunning !== true) return;
    this.#run.stop(signal);
    await this.#run.ended;
  }
}
