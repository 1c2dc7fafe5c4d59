import type { KubernetesObject } from '../../api/meta.ts';
import { label } from '../../api/v1alpha1/labels.ts';
import type { Kubectl } from './kubectl.ts';

/** What became of an operator of `operatorFiles`, whose deployment has its name. */
export class InstalledOperator {
  readonly #kubectl: Kubectl;
  readonly #name: string;

  constructor(kubectl: Kubectl, name: string) {
    this.#kubectl = kubectl;
    this.#name = name;
  }

  async objects(kind: string): Promise<readonly KubernetesObject[]> {
    return await this.#kubectl.list(kind, `${label.ownerName}=${this.#name}`);
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
    const [account] = await this.objects('serviceaccounts');
    const user = `system:serviceaccount:${account?.metadata.namespace}:${this.#name}`;
    const question = ['auth', 'can-i', 'list', 'configmaps', `--as=${user}`, '-n', namespace];
    return (await this.#kubectl.run(question)).stdout.trim() === 'yes';
  }

  /** What it reads of the pods that it has, by their namespaces. */
  async watches(): Promise<Readonly<Record<string, string | undefined>>> {
    const pods = await this.#kubectl.list('pods', `app=${this.#name}`);
    return Object.fromEntries(
      pods
        .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
        .map(({ metadata: { namespace = '', annotations = {} } }) => [
          namespace,
          annotations['olm.targetNamespaces'],
        ]),
    );
  }
}
