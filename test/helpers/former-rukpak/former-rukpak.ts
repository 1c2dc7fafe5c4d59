import type { KubernetesObject, OwnerReference } from '../../../api/meta.ts';
import type {
  Bundle,
  BundleDeployment,
  BundleSource,
  BundleStatus,
  BundleTemplate,
} from '../../../api/v1alpha1/index.ts';
import { templateHash } from '../../../api/v1alpha1/rules/template-hash.ts';
import { controllerReference } from '../../../core/apply/objects/desired.ts';
import { desiredBundle } from '../../../core/bundle-deployment/desired-bundle.ts';
import type { Kubectl } from '../kubectl.ts';
import { mergePatch } from './merge-patch.ts';
import { releaseSecret } from './release-secret.ts';
import { renderedObject, sentObject } from './released-object.ts';

const plain = 'core-rukpak-io-plain';
const helm = 'core-rukpak-io-helm';

export interface FormerContent {
  readonly name: string;
  /** Of the BundleDeployment. */
  readonly className?: string;
  readonly template: BundleTemplate;
  readonly config?: object;
  /** What the content was found to be; without a pull secret, as RukPak writes it. */
  readonly resolvedSource: BundleSource;
  /** The objects of each revision; the last is installed, the others are history. */
  readonly revisions: readonly (readonly KubernetesObject[])[];
  /** Of the last release (default: `deployed`). */
  readonly releaseStatus?: string;
  /** The reason for which RukPak says that it is not installed. */
  readonly failure?: string;
}

/** Leaves in a cluster what RukPak v0.16.0 leaves in it: objects, marks, Secrets and who wrote what. */
export class FormerRukpak {
  readonly #kubectl: Kubectl;
  readonly #namespace: string;

  constructor(kubectl: Kubectl, namespace = 'rukpak-system') {
    this.#kubectl = kubectl;
    this.#namespace = namespace;
  }

  /** A BundleDeployment that was installed, and upgraded in place as often as there are revisions. */
  async install(content: FormerContent): Promise<void> {
    const deployment = await this.#createDeployment(content);
    const bundle = await this.#createBundle(deployment, content);
    await this.#applyRevisions(controllerReference(deployment), content);
    await this.#writeStatus(deployment, {
      activeBundle: bundle,
      observedGeneration: 1,
      conditions: conditionsOf(bundle, content),
    });
  }

  async #createDeployment({
    name,
    className = plain,
    template,
    config,
  }: FormerContent): Promise<BundleDeployment> {
    await this.#create(
      {
        apiVersion: 'core.rukpak.io/v1alpha1',
        kind: 'BundleDeployment',
        metadata: { name },
        spec: { provisionerClassName: className, template, ...(config && { config }) },
      },
      'kubectl-create',
    );
    return (await this.#kubectl.get('bundledeployment', name)) as BundleDeployment;
  }

  async #createBundle(
    deployment: BundleDeployment,
    { template, resolvedSource }: FormerContent,
  ): Promise<string> {
    const bundle = desiredBundle(deployment, templateHash(template));
    const { name = '' } = bundle.metadata;
    const manager = managerOf(template.spec.provisionerClassName);
    await this.#create(bundle, manager);
    await this.#addFinalizer(bundle, manager);
    const status: BundleStatus = {
      phase: 'Unpacked',
      observedGeneration: 1,
      resolvedSource,
      contentURL: `https://${manager === 'helm' ? 'helm-provisioner' : 'core'}.${this.#namespace}.svc/bundles/${name}.tgz`,
      conditions: [
        condition(
          'Unpacked',
          'UnpackSuccessful',
          `Successfully unpacked the ${resolvedSource.type} Bundle`,
        ),
      ],
    };
    await this.#writeStatus(bundle, status);
    return name;
  }

  /** RukPak writes the typed spec with it: `auth` appears, and the generation goes to 2. */
  async #addFinalizer(bundle: Bundle, manager: string): Promise<void> {
    const { git, http } = bundle.spec.source;
    const secret = { secret: {} };
    const patch = {
      metadata: { finalizers: ['core.rukpak.io/delete-cached-bundle'] },
      spec: {
        source: {
          ...(git && { git: { auth: { ...secret, ...git.auth } } }),
          ...(http && { http: { auth: { ...secret, ...http.auth } } }),
        },
      },
    };
    await this.#kubectl.client.patchAs(manager, { object: bundle }, patch);
  }

  async #applyRevisions(
    owner: OwnerReference,
    { name, className = plain, revisions, releaseStatus = 'deployed' }: FormerContent,
  ): Promise<void> {
    const release = { name, namespace: this.#namespace, owner };
    const live = new Map<string, KubernetesObject>();
    const manager = managerOf(className);
    for (const [index, objects] of revisions.entries()) {
      for (const object of objects) {
        await this.#send(sentObject(object, release), live, manager);
      }
      const status = index === revisions.length - 1 ? releaseStatus : 'superseded';
      const rendered = objects.map((object) => renderedObject(object, release));
      await this.#create(
        releaseSecret({ ...release, revision: index + 1, status, objects: rendered }),
        manager,
      );
    }
  }

  async #send(
    object: KubernetesObject,
    live: Map<string, KubernetesObject>,
    manager: string,
  ): Promise<void> {
    const id = `${object.kind}/${object.metadata.namespace}/${object.metadata.name}`;
    const before = live.get(id);
    live.set(id, object);
    if (before === undefined) await this.#create(object, manager);
    else await this.#kubectl.client.patchAs(manager, { object }, mergePatch(before, object));
  }

  async #create(object: KubernetesObject, manager: string): Promise<void> {
    await this.#kubectl.client.createAs(manager, object);
  }

  async #writeStatus(object: KubernetesObject, status: object): Promise<void> {
    await this.#kubectl.client.patchAs('core', { object, subresource: 'status' }, { status });
  }
}

/** Helm's client and RukPak's own both sign with the name of their program. */
function managerOf(className: string): string {
  return className === helm ? 'helm' : 'core';
}

function conditionsOf(bundle: string, { failure }: FormerContent): readonly object[] {
  const unpacked = `Successfully unpacked the ${bundle} Bundle`;
  const valid = condition('HasValidBundle', 'UnpackSuccessful', unpacked);
  if (failure === undefined) {
    const message = `Instantiated bundle ${bundle} successfully`;
    const healthy = condition('Healthy', 'Healthy', 'BundleDeployment is healthy');
    return [valid, condition('Installed', 'InstallationSucceeded', message), healthy];
  }
  const message = 'another operation (install/upgrade/rollback) is in progress';
  const unhealthy = condition('Healthy', 'InstallationStatusFalse', 'Installed condition is false');
  return [
    valid,
    { ...condition('Installed', failure, message), status: 'False' },
    { ...unhealthy, status: 'False' },
  ];
}

function condition(type: string, reason: string, message: string) {
  const lastTransitionTime = '2023-11-14T22:13:20Z';
  return { type, status: 'True', reason, message, lastTransitionTime } as const;
}
