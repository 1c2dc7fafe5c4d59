import { expect } from 'vitest';
import type { BundleDeployment } from '../../api/v1alpha1/bundle-deployment.ts';
import { eventually, patiently } from './eventually.ts';
import { conditionOf, type Kubectl } from './kubectl.ts';
import { aBundleDeployment } from './objects.ts';
import { plainNeighbour } from './plain-neighbour.ts';
import { pushContent } from './push-content.ts';

export interface SessionOptions {
  readonly kubectl: Kubectl;
  readonly registry: string;
  /** Of the BundleDeployment, and in front of the names of its objects. */
  readonly name: string;
  readonly className: string;
  readonly config?: object;
  /**
   * Content of versions 1 and 2. The class renders into namespace `default`: a Deployment
   * `<name>-web`, a ConfigMap `<name>-kept` whose `data.version` is the version, and for version 1
   * only a ConfigMap `<name>-gone`.
   */
  readonly files: (version: 1 | 2) => Readonly<Record<string, string>>;
}

/** Promises of every class, in any host. Call these in order. */
export class ClassSession {
  readonly #options: SessionOptions;
  readonly #neighbour: ReturnType<typeof plainNeighbour>;
  #firstBundle = '';

  constructor(options: SessionOptions) {
    const { kubectl, registry, name } = options;
    this.#options = options;
    this.#neighbour = plainNeighbour({ kubectl, registry, name: `${name}-plain` });
  }

  /** Also installs a plain deployment with objects of the same kinds. */
  async installs(): Promise<void> {
    await this.#neighbour.install();
    await this.#rollOut(1);
    const { status } = await this.#isUp();
    this.#firstBundle = status?.activeBundle ?? '';
    expect(await this.#version()).toBe('1');
    const { kubectl, name } = this.#options;
    expect(await kubectl.exists('deployment', `${name}-web`, 'default')).toBe(true);
    expect(await kubectl.exists('configmap', `${name}-gone`, 'default')).toBe(true);
  }

  async pivots(): Promise<void> {
    await this.#rollOut(2);
    await eventually(async () => expect(await this.#version()).toBe('2'));
    const { status } = await this.#isUp();
    expect(status?.activeBundle).not.toBe(this.#firstBundle);
    await eventually(async () => {
      expect(await this.#options.kubectl.exists('bundle', this.#firstBundle)).toBe(false);
    });
  }

  async prunes(): Promise<void> {
    const { kubectl, name } = this.#options;
    await eventually(async () => {
      expect(await kubectl.exists('configmap', `${name}-gone`, 'default')).toBe(false);
    });
  }

  async repairs(): Promise<void> {
    const { kubectl, name } = this.#options;
    const patch = ['--type=merge', '--patch', '{"data":{"version":"drifted"}}'];
    await kubectl.must(['patch', 'configmap', `${name}-kept`, '--namespace=default', ...patch]);
    await kubectl.deleteNamed('deployment', [`${name}-web`], { namespace: 'default' });
    await eventually(async () => {
      expect(await this.#version()).toBe('2');
      expect(await kubectl.exists('deployment', `${name}-web`, 'default')).toBe(true);
    });
    await this.#isUp();
  }

  /** All this time; then it goes, with its objects. */
  async leavesOthersAlone(): Promise<void> {
    const { kubectl, name } = this.#options;
    await this.#neighbour.isUntouched();
    await kubectl.deleteNamed('bundledeployment', [name]);
    await eventually(async () => {
      expect(await kubectl.exists('deployment', `${name}-web`, 'default')).toBe(false);
      expect(await kubectl.exists('configmap', `${name}-kept`, 'default')).toBe(false);
    }, patiently);
    await this.#neighbour.isUntouched();
    await this.#neighbour.remove();
  }

  async #rollOut(version: 1 | 2): Promise<void> {
    const { kubectl, registry, name, className, config, files } = this.#options;
    const source = await pushContent({ registry, name, version, files: files(version) });
    const made = aBundleDeployment({ name, className, source }) as BundleDeployment;
    const spec = { ...made.spec, provisionerClassName: className };
    await kubectl.apply({ ...made, spec: config === undefined ? spec : { ...spec, config } });
  }

  async #isUp(): Promise<BundleDeployment> {
    const { kubectl, name } = this.#options;
    return await eventually(async () => {
      const found = (await kubectl.get('bundledeployment', name)) as BundleDeployment;
      expect(found.status?.observedGeneration).toBe(found.metadata.generation);
      expect(conditionOf(found, 'HasValidBundle')).toMatchObject({ reason: 'UnpackSuccessful' });
      expect(conditionOf(found, 'Installed')).toMatchObject({ status: 'True' });
      expect(conditionOf(found, 'Healthy')).toMatchObject({ status: 'True' });
      return found;
    });
  }

  async #version(): Promise<unknown> {
    const { kubectl, name } = this.#options;
    const { data } = (await kubectl.get('configmap', `${name}-kept`, 'default')) as {
      data?: { version?: unknown };
    };
    return data?.version;
  }
}
