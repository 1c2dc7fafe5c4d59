import { expect } from 'vitest';
import type { JsonObject } from '../../api/json.ts';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import { annotation, type BundleDeploymentStatus } from '../../api/v1alpha1/index.ts';
import type { BundleFiles, ClusterFacts } from '../../core/sdk.ts';
import { changedCopy } from './changed-copy.ts';
import { eventually, patiently } from './eventually.ts';
import { installedBundle } from './installed-bundle.ts';
import { identitiesOf, missingContent, ownedObjects } from './installed-content.ts';
import { conditionOf, type Kubectl } from './kubectl.ts';
import { aBundleDeployment, anImage } from './objects.ts';
import { pushImage } from './push-image.ts';
import { aTree } from './registry-bundle.ts';

export interface OperatorLifeOptions {
  readonly kubectl: Kubectl;
  /** `host:port` */
  readonly registry: string;
  readonly cluster: ClusterFacts;
}

/** A version of an operator, and how it is to be installed. */
export interface OperatorVersion {
  readonly content: BundleFiles;
  readonly tag: string;
  readonly config?: JsonObject | undefined;
}

const patience = { within: 300_000, every: 500 };

/** Operators as a user has them: BundleDeployments of images, and what the cluster then holds. */
export class OperatorLife {
  readonly #options: OperatorLifeOptions;

  constructor(options: OperatorLifeOptions) {
    this.#options = options;
  }

  async deploy(name: string, { content, tag, config }: OperatorVersion): Promise<void> {
    const { kubectl, registry } = this.#options;
    const repository = `real/${name}`;
    const layers = [{ files: Object.fromEntries(content.files) }];
    await pushImage({ registry, repository, tag, layers });
    const source = anImage(`${registry}/${repository}:${tag}`);
    const deployment = aBundleDeployment({ name, className: 'core-rukpak-io-registry', source });
    const { spec, ...rest } = deployment as { readonly spec: object };
    const configured = config === undefined ? spec : { ...spec, config };
    await kubectl.apply({ ...rest, spec: configured });
  }

  /** Waits for a condition of a BundleDeployment. */
  async condition(
    name: string,
    type: string,
    expected: Partial<Condition>,
  ): Promise<KubernetesObject> {
    return await eventually(async () => {
      const deployment = await this.#options.kubectl.get('bundledeployment', name);
      expect(conditionOf(deployment, type)).toMatchObject(expected);
      return deployment;
    }, patience);
  }

  /** Waits until a deployment is installed and healthy, with exactly its content, as written. */
  async expectHealthy(name: string, version: OperatorVersion): Promise<KubernetesObject> {
    const installed = { status: 'True', reason: 'InstallationSucceeded' } as const;
    await this.condition(name, 'Installed', installed);
    const deployment = await this.condition(name, 'Healthy', { status: 'True', reason: 'Healthy' });
    await this.expectContent(name, version);
    return deployment;
  }

  async expectContent(name: string, version: OperatorVersion): Promise<void> {
    const { kubectl } = this.#options;
    const objects = await this.objectsOf(version);
    const expected = [...objects, ...servingSecrets(objects)];
    if (expected.length === 0) return;
    const owned = await ownedObjects(kubectl, name, expected);
    expect(identitiesOf(owned)).toEqual(identitiesOf(expected));
    expect(await missingContent(kubectl, objects)).toEqual([]);
  }

  /** Brings out another version, and waits until it is the one that counts, and healthy. */
  async upgrade(name: string, version: OperatorVersion): Promise<void> {
    const { kubectl } = this.#options;
    const before = activeBundle(await kubectl.get('bundledeployment', name));
    await this.deploy(name, version);
    await eventually(async () => {
      expect(activeBundle(await kubectl.get('bundledeployment', name))).not.toBe(before);
    }, patience);
    await this.expectHealthy(name, version);
  }

  /** Deletes a deployment and waits until its objects, and the namespaces they were in, are gone. */
  async remove(name: string, version?: OperatorVersion): Promise<void> {
    const { kubectl } = this.#options;
    const objects = version === undefined ? [] : await this.objectsOf(version);
    await kubectl.deleteNamed('bundledeployment', [name]);
    // A CRD that is gone took its kind along.
    const kinds = [...objects, ...servingSecrets(objects)].filter(isBuiltIn);
    if (kinds.length === 0) return;
    await eventually(
      async () => expect(identitiesOf(await ownedObjects(kubectl, name, kinds))).toEqual([]),
      patiently,
    );
  }

  /** Installs content, upgrades it to a changed copy of itself, and deletes it. */
  async comesAndGoes(name: string, content: BundleFiles, config?: JsonObject): Promise<void> {
    const first = { content, config, tag: 'v1' };
    await this.deploy(name, first);
    await this.expectHealthy(name, first);
    const copy = aTree(changedCopy(Object.fromEntries(content.files), name));
    const second = { content: copy, config, tag: 'v2' };
    await this.upgrade(name, second);
    await this.remove(name, second);
  }

  /** What a version is rendered to. */
  async objectsOf({ content, config }: OperatorVersion): Promise<readonly KubernetesObject[]> {
    const { cluster } = this.#options;
    return await installedBundle(content, { cluster, ...(config === undefined ? {} : { config }) });
  }
}

function activeBundle(deployment: KubernetesObject): string | undefined {
  return (deployment['status'] as BundleDeploymentStatus | undefined)?.activeBundle;
}

/** The Secrets that certificates of these objects are kept in. */
function servingSecrets(objects: readonly KubernetesObject[]): readonly KubernetesObject[] {
  return objects.flatMap(({ metadata: { namespace, annotations } }) => {
    const name = annotations?.[annotation.servingCertificate];
    return name === undefined
      ? []
      : [{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace } } as KubernetesObject];
  });
}

const builtInGroups =
  /^(v1|apps\/v1|(rbac\.authorization|apiextensions|admissionregistration|scheduling)\.k8s\.io\/v1|policy\/v1)$/;

function isBuiltIn({ apiVersion }: KubernetesObject): boolean {
  return builtInGroups.test(apiVersion);
}
