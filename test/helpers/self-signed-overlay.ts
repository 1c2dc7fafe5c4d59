import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubernetesObject } from '../../api/meta.ts';
import type { Kubectl } from './kubectl.ts';

const folders = join(import.meta.dirname, '../../deploy/overlays');
export const webhookConfiguration = 'rukpak-validating-webhook-configuration';
export const mutatingConfiguration = 'rukpak-mutating-webhook-configuration';
export const crdWebhookConfiguration = 'crd-validation-webhook';

interface Webhook {
  readonly name: string;
  readonly clientConfig: {
    readonly caBundle?: string;
    readonly url?: string;
    readonly service?: { readonly path: string };
  };
}

/** deploy/overlays/self-signed, or a variant of it, on a cluster that nobody else uses. */
export class SelfSignedOverlay {
  readonly #kubectl: Kubectl;
  /** Where it is, in kubectl's words. */
  readonly #place: readonly string[];
  readonly #objects: readonly KubernetesObject[];

  private constructor(kubectl: Kubectl, place: readonly string[], text: string) {
    this.#kubectl = kubectl;
    this.#place = place;
    this.#objects = parseAllDocuments(text).map((each) => each.toJS() as KubernetesObject);
  }

  /** By its name in deploy/overlays, or by the path of its folder. */
  static async render(kubectl: Kubectl, name = 'self-signed'): Promise<SelfSignedOverlay> {
    const folder = resolve(folders, name);
    const text = await kubectl.must(['kustomize', folder]);
    return new SelfSignedOverlay(kubectl, ['-k', folder], text);
  }

  /** As a release has it in one file. */
  static async read(kubectl: Kubectl, file: string): Promise<SelfSignedOverlay> {
    return new SelfSignedOverlay(kubectl, ['-f', file], await readFile(file, 'utf8'));
  }

  /** One of its objects; throws where there is none. */
  object(kind: string, name: string): KubernetesObject {
    const found = this.#objects.find((each) => each.kind === kind && each.metadata.name === name);
    if (found === undefined) throw new Error(`the overlay has no ${kind} ${name}`);
    return found;
  }

  /** The same as `apply`, sooner. */
  async install(): Promise<void> {
    await this.#kubectl.applyAsKubectl(this.#objects);
  }

  /** As the README says. */
  async apply(): Promise<void> {
    await this.#kubectl.must(['apply', '--server-side', ...this.#place]);
  }

  async webhooks(name = webhookConfiguration): Promise<readonly Webhook[]> {
    const object = await this.#kubectl.get(kindOf(name), name);
    return object['webhooks'] as readonly Webhook[];
  }

  /** No kubelet, no Service: has the webhooks called at a URL, and leaves their CA as it is. */
  async callWebhooksAt(url: string, name = webhookConfiguration): Promise<void> {
    const patch = (await this.webhooks(name)).flatMap(({ clientConfig }, index) => {
      const path = `/webhooks/${index}/clientConfig`;
      return [
        { op: 'remove', path: `${path}/service` },
        { op: 'add', path: `${path}/url`, value: `${url}${clientConfig.service?.path}` },
      ];
    });
    const target = [kindOf(name), name];
    await this.#kubectl.must(['patch', ...target, '--type=json', '-p', JSON.stringify(patch)]);
  }

  /** Takes all of it away, whatever state it is in; nobody needs to run. */
  async remove(): Promise<void> {
    const target = [
      'validatingwebhookconfiguration',
      webhookConfiguration,
      crdWebhookConfiguration,
    ];
    await this.#kubectl.must(['delete', ...target, '--ignore-not-found']);
    for (const kind of ['bundledeployments', 'bundles']) await this.#removeAll(kind);
    // Nobody is left to delete what they had installed.
    const installed = ['configmaps,clusterroles', '--all-namespaces', '--ignore-not-found'];
    const selector = '--selector=core.rukpak.io/owner-kind=BundleDeployment';
    await this.#kubectl.must(['delete', ...installed, selector]);
    await this.#kubectl.delete(this.#objects);
  }

  async #removeAll(kind: string): Promise<void> {
    const { code, stdout } = await this.#kubectl.run(['get', kind, '--output=name']);
    // The kind itself may not be there.
    if (code !== 0) return;
    const patch = '{"metadata":{"finalizers":null}}';
    for (const name of stdout.split('\n').filter(Boolean)) {
      await this.#kubectl.run(['delete', name, '--wait=false', '--ignore-not-found']);
      await this.#kubectl.run(['patch', name, '--type=merge', '-p', patch]);
    }
  }
}

function kindOf(configuration: string): string {
  const isMutating = configuration === mutatingConfiguration;
  return `${isMutating ? 'mutating' : 'validating'}webhookconfiguration`;
}
