import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually } from './eventually.ts';
import type { Kubectl } from './kubectl.ts';
import { SecretVolume, type SecretVolumeSource } from './secret-volume.ts';
import { writeKubeconfig } from './service-account.ts';
import { workerPorts } from './worker-ports.ts';

/** Where the kubelet puts it. */
export const podToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

const root = join(import.meta.dirname, '../..');

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env?: readonly { readonly name: string; readonly valueFrom?: object }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Volume {
  readonly name: string;
  readonly secret?: SecretVolumeSource;
}

interface PodSpec {
  readonly serviceAccountName: string;
  readonly containers: readonly [Container];
  readonly volumes?: readonly Volume[];
}

export function podSpecOf(deployment: KubernetesObject): PodSpec {
  return (deployment['spec'] as { template: { spec: PodSpec } }).template.spec;
}

/** The arguments of a Deployment's container, with variables resolved as the kubelet does. */
export function containerArgs(deployment: KubernetesObject): readonly string[] {
  const { args, env = [] } = podSpecOf(deployment).containers[0];
  const { namespace = '' } = deployment.metadata;
  const isNamespace = (name: string) => env.some((variable) => variable.name === name);
  return args.map((argument) =>
    argument.replace(/\$\((\w+)\)/g, (reference, name) =>
      isNamespace(name) ? namespace : reference,
    ),
  );
}

export interface LocalPodOptions {
  readonly kubectl: Kubectl;
  readonly deployment: KubernetesObject;
  /** Flags for what cannot be as in a pod, given free ports and the place of its paths. */
  readonly flags: (ports: readonly number[], local: (path: string) => string) => readonly string[];
}

/**
 * The container of a Deployment as a process of this machine: its arguments, its service account
 * and its volumes. The first port is the one of its probes.
 */
export class LocalPod {
  readonly #options: LocalPodOptions;
  readonly #folder: string;
  readonly ports: readonly number[];
  readonly #secrets: readonly SecretVolume[];
  #process: ChildProcess | undefined;
  #log = '';

  private constructor(options: LocalPodOptions, folder: string, ports: readonly number[]) {
    this.#options = options;
    this.#folder = folder;
    this.ports = ports;
    const { containers, volumes = [] } = podSpecOf(options.deployment);
    const mounts = containers[0].volumeMounts ?? [];
    this.#secrets = mounts.flatMap(({ name, mountPath }) => {
      const { secret } = volumes.find((volume) => volume.name === name) ?? {};
      if (secret === undefined) return [];
      return [new SecretVolume(options.kubectl, secret, this.local(mountPath))];
    });
  }

  /** Makes its folders; nothing runs yet. */
  static async create(options: LocalPodOptions): Promise<LocalPod> {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-pod-'));
    const pod = new LocalPod(options, folder, await workerPorts(3));
    const [{ volumeMounts = [] }] = podSpecOf(options.deployment).containers;
    for (const { mountPath } of volumeMounts)
      await mkdir(pod.local(mountPath), { recursive: true });
    return pod;
  }

  get log(): string {
    return this.#log;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** Where a path of the container lies on this machine; only volumes are there. */
  local(path: string): string {
    if (path === podToken) return join(this.#folder, 'token');
    const [{ volumeMounts = [] }] = podSpecOf(this.#options.deployment).containers;
    const isMounted = volumeMounts.some(({ mountPath }) => isWithin(path, mountPath));
    if (!isMounted) throw new Error(`${path} is on no volume, and the root is read-only`);
    return join(this.#folder, 'volumes', path);
  }

  /** Brings its volumes of Secrets up to date, as the kubelet does now and then. */
  async mountSecrets(): Promise<void> {
    for (const secret of this.#secrets) await secret.refresh();
  }

  /** Mounts, starts, and waits until it is ready. */
  async start(): Promise<void> {
    const { kubectl, deployment, flags } = this.#options;
    const { serviceAccountName: name } = podSpecOf(deployment);
    const { namespace = '' } = deployment.metadata;
    const kubeconfig = await writeKubeconfig(kubectl, { namespace, name }, this.#folder);
    await eventually(() => this.mountSecrets());
    const local = (path: string) => this.local(path);
    const args = containerArgs(deployment).map((argument) => this.#relocated(argument));
    const child = spawn(process.execPath, ['cmd/rukpak.ts', ...args, ...flags(this.ports, local)], {
      cwd: root,
      env: { PATH: process.env['PATH'], HOME: this.#folder, KUBECONFIG: kubeconfig },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (this.#log += chunk.toString('utf8')));
    }
    await this.#ready();
  }

  /** Ends it with a signal; its exit code, null where the signal itself ended it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#process;
    if (child === undefined) return null;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill(signal);
      await ended;
    }
    return child.exitCode;
  }

  /** Ends it at once and removes its folder. */
  async remove(): Promise<void> {
    await this.end('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #ready(): Promise<void> {
    await eventually(async () => {
      if (this.#process?.exitCode !== null) throw new Error(`the process ended:\n${this.#log}`);
      const answer = await fetch(`http://127.0.0.1:${this.ports[0]}/readyz`);
      if (!answer.ok) throw new Error(`not ready: ${await answer.text()}\n${this.#log}`);
    });
  }

  #relocated(argument: string): string {
    const [flag, value] = argument.split(/=(.*)/s);
    return value?.startsWith('/') ? `${flag}=${this.local(value)}` : argument;
  }
}

function isWithin(path: string, folder: string): boolean {
  const relative = posix.relative(folder, path);
  return !relative.startsWith('..') && !posix.isAbsolute(relative);
}
