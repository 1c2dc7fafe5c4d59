import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubernetesObject } from '../../../api/meta.ts';
import { eventually } from '../eventually.ts';
import type { Kubectl } from '../kubectl.ts';
import { podSpecOf } from '../local-pod.ts';
import { DataVolume } from '../secret-volume.ts';
import { ports } from './apis.ts';
import type { Listener, ProgramOptions } from './program.ts';

const program = join(import.meta.dirname, 'program.ts');

/** Where the operator looks for its certificates, as the API server's documentation and kubebuilder say. */
const webhookFolder = '/tmp/k8s-webhook-server/serving-certs';
const apiFolder = '/apiserver.local.config/certificates';

export interface OperatorProcessOptions {
  readonly kubectl: Kubectl;
  readonly namespace: string;
  /** Of its Deployment. */
  readonly name: string;
}

/**
 * The operator as a process of this machine that takes the place of its pods: it has the volumes that
 * the Deployment mounts, and listens where the API server looks for its Service.
 */
export class OperatorProcess {
  readonly #options: OperatorProcessOptions;
  readonly #folder: string;
  #volumes: readonly DataVolume[] = [];
  #process: ChildProcess | undefined;
  #refreshing: NodeJS.Timeout | undefined;
  #refreshed: Promise<void> = Promise.resolve();
  #log = '';

  private constructor(options: OperatorProcessOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
  }

  /** Waits for Deployment, Service and Secret, starts it, and waits until it listens. */
  static async start(options: OperatorProcessOptions): Promise<OperatorProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-operator-'));
    const operator = new OperatorProcess(options, folder);
    try {
      await operator.#mount();
      await operator.#launch();
    } catch (error) {
      await operator.stop();
      throw error;
    }
    return operator;
  }

  get log(): string {
    return this.#log;
  }

  /** Ends it and removes its folder. */
  async stop(): Promise<void> {
    clearTimeout(this.#refreshing);
    this.#refreshing = undefined;
    await this.#refreshed;
    const child = this.#process;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #mount(): Promise<void> {
    const { kubectl, namespace, name } = this.#options;
    const deployment = await eventually(() => kubectl.get('deployment', name, namespace));
    const { containers, volumes = [] } = podSpecOf(deployment);
    this.#volumes = (containers[0].volumeMounts ?? []).map(({ name: mounted, mountPath }) => {
      const secret = volumes.find((volume) => volume.name === mounted)?.secret;
      if (secret === undefined) throw new Error(`volume ${mounted} is of no Secret`);
      return new DataVolume(kubectl, { ...secret, namespace }, join(this.#folder, mountPath));
    });
    for (const { mountPath } of containers[0].volumeMounts ?? []) {
      await mkdir(join(this.#folder, mountPath), { recursive: true });
    }
    await eventually(async () => await this.#refresh());
    this.#refreshSoon();
  }

  // The kubelet looks now and then; ours often, for tests are short.
  #refreshSoon(): void {
    this.#refreshing = setTimeout(() => {
      this.#refreshed = this.#refresh().catch(() => {
        // A Secret that is gone stays as it was in a pod, too.
      });
      void this.#refreshed.then(() => {
        if (this.#refreshing !== undefined) this.#refreshSoon();
      });
    }, 500);
  }

  async #refresh(): Promise<void> {
    for (const volume of this.#volumes) await volume.refresh();
  }

  async #launch(): Promise<void> {
    const host = await this.#clusterIP();
    const folder = (path: string) => join(this.#folder, path);
    const webhooks = { certificate: 'tls.crt', key: 'tls.key', folder: folder(webhookFolder) };
    const api = { certificate: 'apiserver.crt', key: 'apiserver.key', folder: folder(apiFolder) };
    const listeners: readonly Listener[] = [
      { host, port: ports.webhooks, ...webhooks },
      { host, port: ports.api, ...api },
    ];
    const options: ProgramOptions = { listeners };
    const child = spawn(process.execPath, [program, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (this.#log += chunk.toString('utf8')));
    }
    await eventually(() => {
      if (child.exitCode !== null) throw new Error(`the operator ended:\n${this.#log}`);
      if (this.#log.split('listening').length <= listeners.length) {
        throw new Error(`the operator does not listen yet:\n${this.#log}`);
      }
    });
  }

  async #clusterIP(): Promise<string> {
    const { kubectl, namespace, name } = this.#options;
    const service = await kubectl.get('service', `${name}-service`, namespace);
    return (service as KubernetesObject & { spec: { clusterIP: string } }).spec.clusterIP;
  }
}
