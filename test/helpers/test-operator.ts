import { expect } from 'vitest';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import { type BundleDeploymentStatus, label } from '../../api/v1alpha1/index.ts';
import { eventually } from './eventually.ts';
import { conditionOf, type Kubectl } from './kubectl.ts';
import { aBundleDeployment } from './objects.ts';
import { operatorFiles } from './operator-bundle.ts';
import { pushContent } from './push-content.ts';

export interface TestOperatorOptions {
  readonly kubectl: Kubectl;
  readonly registry: string;
  /** Of package, deployment and BundleDeployment. */
  readonly name: string;
  readonly modes: readonly string[];
  readonly version?: number;
  /** Fields of the CSV's spec. */
  readonly spec?: object;
  /** More files of its bundle, by their paths. */
  readonly files?: Readonly<Record<string, string>>;
}

/** An operator of `operatorFiles` with its BundleDeployment, and what becomes of it in the cluster. */
export class TestOperator {
  readonly #options: TestOperatorOptions;

  constructor(options: TestOperatorOptions) {
    this.#options = options;
  }

  /** Creates or changes its deployment. */
  async rollOut(config?: object): Promise<void> {
    const { kubectl, registry, name, modes, version = 1, spec: csvSpec = {} } = this.#options;
    const own = operatorFiles({ name, modes, version, spec: csvSpec });
    const files = { ...own, ...this.#options.files };
    const source = await pushContent({ registry, name: `operator-${name}`, version, files });
    const className = 'core-rukpak-io-registry';
    const deployment = aBundleDeployment({ name, className, source }) as { spec: object };
    const spec = { ...deployment.spec, ...(config === undefined ? {} : { config }) };
    await kubectl.apply({ ...deployment, spec });
  }

  /** Waits until the present spec is installed and healthy; the name of its Bundle. */
  async healthy(): Promise<string> {
    return await eventually(async () => {
      const deployment = await this.#deployment();
      const status = deployment['status'] as BundleDeploymentStatus;
      expect(status.observedGeneration).toBe(deployment.metadata.generation);
      expect(conditionOf(deployment, 'Installed')).toMatchObject({ status: 'True' });
      expect(conditionOf(deployment, 'Healthy')).toMatchObject({ status: 'True' });
      return status.activeBundle ?? '';
    });
  }

  async condition(type: string, expected: Partial<Condition>): Promise<void> {
    await eventually(async () => {
      expect(conditionOf(await this.#deployment(), type)).toMatchObject(expected);
    });
  }

  /** Waits for the message that it cannot be deployed by its spec.config. */
  async refused(message: string): Promise<void> {
    const expected = { status: 'False', reason: 'BundleLoadFailed', message } as const;
    await this.condition('HasValidBundle', expected);
  }

  async remove(): Promise<void> {
    const { kubectl, name } = this.#options;
    await kubectl.deleteNamed('bundledeployment', [name]);
  }

  /** Of a kind, those that it has. */
  async objects(kind: string): Promise<readonly KubernetesObject[]> {
    const { kubectl, name } = this.#options;
    return await kubectl.list(kind, `${label.ownerName}=${name}`);
  }

  /** Where it may see ConfigMaps by its bindings: namespaces, or '' for the cluster. */
  async permittedIn(): Promise<readonly string[]> {
    const bindings = await this.objects('rolebindings');
    const roles = await this.objects('clusterroles');
    const promoted = roles.filter((role) => JSON.stringify(role['rules']).includes('configmaps'));
    return [
      ...bindings.map((binding) => binding.metadata.namespace ?? ''),
      ...promoted.map(() => ''),
    ].sort();
  }

  /** Whether it may see the ConfigMaps of a namespace, as the API server says. */
  async maySee(namespace: string): Promise<boolean> {
    const { kubectl, name } = this.#options;
    const [account] = await this.objects('serviceaccounts');
    const user = `system:serviceaccount:${account?.metadata.namespace}:${name}`;
    const question = ['auth', 'can-i', 'list', 'configmaps', `--as=${user}`, '-n', namespace];
    return (await kubectl.run(question)).stdout.trim() === 'yes';
  }

  /** What it reads of the pods that it has, by their namespaces. */
  async watches(): Promise<Readonly<Record<string, string | undefined>>> {
    const { kubectl, name } = this.#options;
    const pods = await kubectl.list('pods', `app=${name}`);
    return Object.fromEntries(
      pods
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata: { namespace = '', annotations = {} } }) => [
          namespace,
          annotations['olm.targetNamespaces'],
        ]),
    );
  }

  async #deployment(): Promise<KubernetesObject> {
    return await this.#options.kubectl.get('bundledeployment', this.#options.name);
  }
}
