import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubernetesObject } from '../../../../api/meta.ts';
import type { KubeClient, Resource } from '../../../../core/platform/kube/index.ts';
import { installManifests } from '../../../../deploy/install-manifests.ts';
import { freePorts } from '../../../../deploy/local/cluster/ports.ts';

const root = join(import.meta.dirname, '../../../..');
const name = 'rukpak-validating-webhook-configuration';
const kinds = ['vbundles.core.rukpak.io', 'vbundledeployments.core.rukpak.io'];

const configurationResource: Resource = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  kind: 'ValidatingWebhookConfiguration',
  plural: 'validatingwebhookconfigurations',
  namespaced: false,
};

/** `rukpak webhooks` beside core: no Bundle or deployment is admitted without its answer. */
export class Webhooks implements AsyncDisposable {
  readonly #client: KubeClient;
  readonly #process: ChildProcess;
  readonly #end = (): void => void this.#process.kill('SIGKILL');

  private constructor(client: KubeClient, child: ChildProcess) {
    this.#client = client;
    this.#process = child;
    process.once('exit', this.#end);
  }

  /** Core's folder; the webhooks' log is a file in it. */
  static async start(
    client: KubeClient,
    { kubeconfig, folder }: { readonly kubeconfig: string; readonly folder: string },
  ): Promise<Webhooks> {
    const [port, health] = await freePorts(2, []);
    await client.create(configurationResource, configuration(port ?? 0));
    const log = await open(join(folder, 'webhooks.log'), 'a');
    try {
      const child = spawn(
        process.execPath,
        [
          'dist/cmd/rukpak.js',
          'webhooks',
          `--webhook-bind-address=127.0.0.1:${port}`,
          '--webhook-host=127.0.0.1',
          `--health-probe-bind-address=127.0.0.1:${health}`,
          '--metrics-bind-address=0',
        ],
        {
          cwd: root,
          env: { ...process.env, KUBECONFIG: kubeconfig },
          stdio: ['ignore', log.fd, log.fd],
        },
      );
      return new Webhooks(client, child);
    } finally {
      await log.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    process.off('exit', this.#end);
    const exit = once(this.#process, 'exit');
    if (this.#process.exitCode === null && this.#process.kill('SIGTERM')) await exit;
    await this.#client.delete(configurationResource, { name });
  }
}

/** The shipped webhooks of both kinds; the process adds the CA bundle. */
function configuration(port: number): KubernetesObject {
  const shipped = installManifests({ webhookUrl: `https://127.0.0.1:${port}` }).find(
    ({ metadata }) => metadata.name === name,
  );
  if (shipped === undefined) throw new Error(`the manifests have no ${name}`);
  const webhooks = shipped['webhooks'] as readonly { readonly name: string }[];
  return { ...shipped, webhooks: webhooks.filter((webhook) => kinds.includes(webhook.name)) };
}
