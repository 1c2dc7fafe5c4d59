import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import type { KubernetesObject } from '../../api/meta.ts';
import { eventually } from './eventually.ts';
import type { Kubectl } from './kubectl.ts';
import {
  ProcessRun,
  RukpakInProcess,
  type RukpakRun,
  type StopSignal,
  spawnRukpak,
} from './rukpak-run.ts';
import {
  type ConfigMapVolumeSource,
  DataVolume,
  type SecretVolumeSource,
} from './secret-volume.ts';
import { type ServiceAccount, writeAccountFolder, writeKubeconfig } from './service-account.ts';
import type { UnpackedImage } from './unpacked-image.ts';
import { workerPorts } from './worker-ports.ts';

/** Where the kubelet puts it. */
export const podToken = '/var/run/secrets/kubernetes.io/serviceaccount/token';

const givenFolder = '/given';

interface Container {
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env?: readonly { readonly name: string; readonly valueFrom?: object }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Volume {
  readonly name: string;
  readonly secret?: SecretVolumeSource;
  readonly configMap?: { readonly name: string; readonly items?: ConfigMapVolumeSource['items'] };
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
  /** The program (default: that of the checkout). */
  readonly image?: UnpackedImage | undefined;
  /**
   * That of the checkout in the tests' process: it starts sooner, takes no Lease, and cannot be
   * killed.
   */
  readonly inProcess?: boolean;
}

/**
 * The container of a Deployment as a process of this machine: with its arguments, its service
 * account and its volumes, and in a container if an image is given. The first port belongs to its
 * probes.
 */
export class LocalPod {
  readonly #options: LocalPodOptions;
  readonly #folder: string;
  readonly ports: readonly number[];
  readonly #data: readonly DataVolume[];
  #run: RukpakRun | undefined;
  /** Of the runs before. */
  #formerLog = '';

  private constructor(options: LocalPodOptions, folder: string, ports: readonly number[]) {
    this.#options = options;
    this.#folder = folder;
    this.ports = ports;
    const { containers, volumes = [] } = podSpecOf(options.deployment);
    const { namespace } = options.deployment.metadata;
    const mounts = containers[0].volumeMounts ?? [];
    this.#data = mounts.flatMap(({ name, mountPath }) => {
      const { secret, configMap } = volumes.find((volume) => volume.name === name) ?? {};
      const source =
        configMap === undefined
          ? secret && { ...secret, namespace }
          : { configMapName: configMap.name, items: configMap.items };
      if (source === undefined) return [];
      return [new DataVolume(options.kubectl, source, this.local(mountPath))];
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
    return this.#formerLog + (this.#run?.log ?? '');
  }

  get pid(): number | undefined {
    return this.#run?.pid;
  }

  /** Where a path of the container lies on this machine; only volumes are there. */
  local(path: string): string {
    if (path === podToken) return join(this.#folder, 'token');
    const [{ volumeMounts = [] }] = podSpecOf(this.#options.deployment).containers;
    const isMounted = volumeMounts.some(({ mountPath }) => isWithin(path, mountPath));
    if (!isMounted) throw new Error(`${path} is on no volume, and the root is read-only`);
    return join(this.#folder, 'volumes', path);
  }

  /** Brings its volumes of Secrets and ConfigMaps up to date, as the kubelet does now and then. */
  async mountSecrets(): Promise<void> {
    for (const volume of this.#data) await volume.refresh();
    await this.#options.image?.own(this.#folder);
  }

  /** Mounts, starts, and waits until it is ready. */
  async start(): Promise<void> {
    const { image } = this.#options;
    this.#formerLog = this.log;
    this.#run = image === undefined ? await this.#startCheckout() : await this.#startImage(image);
    await this.#ready();
  }

  /** Ends it with a signal; returns its exit code, null when the signal itself ended it. */
  async end(signal: StopSignal): Promise<number | null> {
    const run = this.#run;
    if (run === undefined) return null;
    if (run.isRunning) run.stop(signal);
    await run.ended;
    return run.exitCode;
  }

  /** Ends it, at once if it has a process of its own, and removes its folder. */
  async remove(): Promise<void> {
    await this.end(this.#options.inProcess ? 'SIGTERM' : 'SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #startCheckout(): Promise<RukpakRun> {
    const { kubectl, deployment, flags, inProcess = false } = this.#options;
    const kubeconfig = await writeKubeconfig(kubectl, this.#account(), this.#folder);
    await eventually(() => this.mountSecrets());
    const local = (path: string) => this.local(path);
    const ofPod = containerArgs(deployment).map((argument) => this.#relocated(argument));
    const args = [...ofPod, ...flags(this.ports, local)];
    if (inProcess) {
      // A Lease would be lost where the tests' own work, on a busy machine, holds up its renewal.
      const alone = args.filter((argument) => argument !== '--leader-elect');
      return new RukpakInProcess(alone, kubeconfig);
    }
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, NODE_COMPILE_CACHE, HOME: this.#folder, KUBECONFIG: kubeconfig };
    return new ProcessRun(spawnRukpak(args, env));
  }

  /** With its arguments as they are, its volumes in their places, and the cluster as pods find it. */
  async #startImage(image: UnpackedImage): Promise<RukpakRun> {
    const { kubectl, deployment, flags } = this.#options;
    const account = join(this.#folder, 'account');
    const server = await writeAccountFolder(kubectl, this.#account(), account);
    const [{ volumeMounts = [] }] = podSpecOf(deployment).containers;
    const given = await this.#givenFiles(flags(this.ports, (path) => path));
    await eventually(() => this.mountSecrets());
    return await image.start({
      args: [...containerArgs(deployment), ...given],
      env: { KUBERNETES_SERVICE_HOST: server.hostname, KUBERNETES_SERVICE_PORT: server.port },
      volumes: new Map([
        ...volumeMounts.map(({ mountPath }): [string, string] => [
          mountPath,
          this.local(mountPath),
        ]),
        [dirname(podToken), account],
        [givenFolder, join(this.#folder, givenFolder)],
      ]),
    });
  }

  /** Flags for differences from a pod, with this machine's files at the container's paths. */
  async #givenFiles(flags: readonly string[]): Promise<readonly string[]> {
    const folder = join(this.#folder, givenFolder);
    await mkdir(folder, { recursive: true });
    const found = flags.map(async (flag) => {
      const [name, file = ''] = flag.split(/=(.*)/s);
      if (!file.startsWith('/') || !existsSync(file)) return flag;
      await copyFile(file, join(folder, posix.basename(file)));
      return `${name}=${posix.join(givenFolder, posix.basename(file))}`;
    });
    return await Promise.all(found);
  }

  #account(): ServiceAccount {
    const { deployment } = this.#options;
    const { namespace = '' } = deployment.metadata;
    return { namespace, name: podSpecOf(deployment).serviceAccountName };
  }

  async #ready(): Promise<void> {
    await eventually(async () => {
      if (!this.#run?.isRunning) throw new Error(`the process ended:\n${this.log}`);
      const answer = await fetch(`http://127.0.0.1:${this.ports[0]}/readyz`);
      if (!answer.ok) throw new Error(`not ready: ${await answer.text()}\n${this.log}`);
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
