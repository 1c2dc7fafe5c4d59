import { readdir } from 'node:fs/promises';
import { eventually } from './eventually.ts';
import type { Kubectl } from './kubectl.ts';
import { LocalPod, type LocalPodOptions, podToken } from './local-pod.ts';
import { secretData } from './secret-volume.ts';
import {
  crdWebhookConfiguration,
  mutatingConfiguration,
  SelfSignedOverlay,
  webhookConfiguration,
} from './self-signed-overlay.ts';
import { ServiceForward } from './service-forward.ts';
import type { TlsServer } from './tls-request.ts';
import type { UnpackedImage } from './unpacked-image.ts';

const archiveFolder = '/var/cache/bundles';
const uploadFolder = '/var/cache/uploads';
const catalogFolder = '/var/cache/catalogs';

/** Names that certificates must be for. */
export const webhookHost = 'rukpak-webhook-service.rukpak-system.svc';
export const contentHost = 'core.rukpak-system.svc';
export const catalogsHost = 'rukpak-catalogs.rukpak-system.svc';

export interface InClusterOptions {
  readonly kubectl: Kubectl;
  /** Plain HTTP. */
  readonly registry: string;
  /** In deploy/overlays, or the path of a folder (default: `self-signed`). */
  readonly overlay?: string;
  /** Of a release: what the pods run instead of the checkout. */
  readonly image?: UnpackedImage | undefined;
  /** Its pods run in the tests' process: none can be killed, or takes a Lease. */
  readonly inProcess?: boolean;
  /** Calls webhooks by their Services: their certificates are for no address of this machine. */
  readonly byServices?: boolean;
}

/** Of a release: what is applied, and what its pods run. */
export interface ReleasedSystem {
  /** `install.yaml`. */
  readonly manifest: string;
  readonly image: UnpackedImage;
}

let released: ReleasedSystem | undefined;

/** From now on, systems of this process are of a release; of the checkout again for undefined. */
export function installReleased(system: ReleasedSystem | undefined): void {
  released = system;
}

/** The system as deploy/overlays/self-signed installs it, its pods as processes of this machine. */
export class InClusterSystem {
  readonly overlay: SelfSignedOverlay;
  readonly #options: InClusterOptions;
  readonly #pods: LocalPod[] = [];
  readonly #forwards: ServiceForward[] = [];

  /** Removes what other files installed under the same names, and applies the overlay. */
  static async install(options: InClusterOptions): Promise<InClusterSystem> {
    const system = await InClusterSystem.prepare(options);
    const { overlay } = system;
    try {
      await overlay.remove();
      await overlay.install();
    } catch (error) {
      await system.remove();
      throw error;
    }
    return system;
  }

  /** Changes nothing in the cluster: the overlay is the caller's to apply. */
  static async prepare(options: InClusterOptions): Promise<InClusterSystem> {
    const { kubectl } = options;
    const overlay =
      released === undefined
        ? await SelfSignedOverlay.render(kubectl, options.overlay)
        : await SelfSignedOverlay.read(kubectl, released.manifest);
    return new InClusterSystem(options, overlay);
  }

  private constructor(options: InClusterOptions, overlay: SelfSignedOverlay) {
    this.#options = options;
    this.overlay = overlay;
  }

  get logs(): readonly string[] {
    return this.#pods.map(({ log }) => log);
  }

  /** Starts the webhooks, and has the API server reach them with the CA that they injected. */
  async startWebhooks(
    more: readonly string[] = [],
    upgrade = () => this.overlay.install(),
  ): Promise<LocalPod> {
    const webhooks = await this.#pod('rukpak-webhooks', ([health, webhook, metrics]) => [
      ...more,
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--webhook-bind-address=127.0.0.1:${webhook}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
    ]);
    await webhooks.start();
    await eventually(async () => {
      const configurations = [webhookConfiguration, mutatingConfiguration];
      const found = configurations.map((name) => this.overlay.webhooks(name));
      const all = (await Promise.all(found)).flat();
      if (!all.every(({ clientConfig }) => clientConfig.caBundle)) throw new Error('no CA yet');
    });
    // As in an upgrade: applying again causes no conflict, and keeps the CA.
    await upgrade();
    const configurations = [webhookConfiguration, mutatingConfiguration];
    await this.#reach(webhooks, 'rukpak-webhook-service', configurations);
    return webhooks;
  }

  /** Starts the validator of CRDs; without it, no deployment can make or change a CRD. */
  async startCrdvalidator(more: readonly string[] = []): Promise<LocalPod> {
    const pod = await this.#pod('crd-validation-webhook', ([health, webhook, metrics]) => [
      ...more,
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--webhook-bind-address=127.0.0.1:${webhook}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
    ]);
    await pod.start();
    await eventually(async () => {
      const [webhook] = await this.overlay.webhooks(crdWebhookConfiguration);
      if (!webhook?.clientConfig.caBundle) throw new Error('no CA yet');
    });
    await this.#reach(pod, 'crd-validation-webhook', [crdWebhookConfiguration]);
    return pod;
  }

  /** One more core, with storage of its own. */
  async startCore(): Promise<LocalPod> {
    const core = await this.#pod('core', ([health, content], local) => [
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--http-bind-address=127.0.0.1:${content}`,
      `--provisioner-storage-dir=${local(archiveFolder)}`,
      `--upload-storage-dir=${local(uploadFolder)}`,
      `--insecure-registry=${this.#options.registry}`,
    ]);
    await core.start();
    return core;
  }

  /** For overlay operators: one more of them, with a cache of its own. */
  async startOperators(): Promise<LocalPod> {
    const operators = await this.#pod('rukpak-operators', ([health, catalogs, metrics], local) => [
      `--cache-dir=${local(catalogFolder)}`,
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--catalogs-server-addr=127.0.0.1:${catalogs}`,
      `--metrics-bind-address=127.0.0.1:${metrics}`,
      `--insecure-registry=${this.#options.registry}`,
    ]);
    await operators.start();
    return operators;
  }

  /**
   * For overlay split: the process that unpacks, at an address that others on this machine can
   * reach.
   */
  async startUnpack(): Promise<LocalPod> {
    const unpack = await this.#pod('core', ([health, content], local) => [
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--http-bind-address=127.0.0.1:${content}`,
      `--http-external-address=https://localhost:${content}`,
      `--provisioner-storage-dir=${local(archiveFolder)}`,
      `--upload-storage-dir=${local(uploadFolder)}`,
      `--insecure-registry=${this.#options.registry}`,
    ]);
    await unpack.start();
    return unpack;
  }

  /** For overlay split: the process that applies. */
  async startApply(unpack: LocalPod): Promise<LocalPod> {
    const apply = await this.#pod('core-apply', ([health, content], local) => [
      `--health-probe-bind-address=127.0.0.1:${health}`,
      `--http-bind-address=127.0.0.1:${content}`,
      `--content-server=https://localhost:${unpack.ports[1]}`,
      `--content-token-file=${local(podToken)}`,
    ]);
    await apply.start();
    return apply;
  }

  /** A core's content server, as clients that trust the CA in the Secret see it. */
  async contentServer(core: LocalPod): Promise<TlsServer> {
    const { 'ca.crt': ca = '' } = await secretData(this.#options.kubectl, 'core-cert');
    return { port: core.ports[1] ?? 0, servername: contentHost, ca };
  }

  /** Ends all processes; what was applied stays. */
  async stop(): Promise<void> {
    for (const forward of this.#forwards.splice(0)) await forward.stop();
    for (const pod of this.#pods.splice(0)) await pod.remove();
  }

  /** Ends all processes and deletes all applied objects, in any state. */
  async remove(): Promise<void> {
    await this.stop();
    await this.overlay.remove();
  }

  async #reach(pod: LocalPod, service: string, configurations: readonly string[]): Promise<void> {
    const [, to = 0] = pod.ports;
    const { kubectl, byServices = false } = this.#options;
    if (byServices) {
      const { namespace = '' } = this.overlay.object('Service', service).metadata;
      this.#forwards.push(await ServiceForward.start(kubectl, { namespace, service, to }));
      return;
    }
    for (const each of configurations) {
      await this.overlay.callWebhooksAt(`https://127.0.0.1:${to}`, each);
    }
  }

  async #pod(name: string, flags: LocalPodOptions['flags']): Promise<LocalPod> {
    const { kubectl, image = released?.image, inProcess = false } = this.#options;
    const deployment = this.overlay.object('Deployment', name);
    const pod = await LocalPod.create({ kubectl, deployment, flags, image, inProcess });
    this.#pods.push(pod);
    return pod;
  }
}

/** Flags of webhooks that answer only the API server of a local control plane. */
export function apiServerOnly(clusterDir: string): readonly string[] {
  return [`--client-ca-file=${clusterDir}/pki/ca.crt`, '--client-name=kube-apiserver'];
}

/** The archives in a core's store; those of deleted Bundles are in a folder. */
export async function archivesOf(core: LocalPod): Promise<readonly string[]> {
  const entries = await readdir(core.local(archiveFolder), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .toSorted();
}
