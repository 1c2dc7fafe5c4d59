import { execFile } from 'node:child_process';
import type { Condition, KubernetesObject } from '../../api/meta.ts';
import { ClusterClient, type DeletionOptions } from './cluster-client.ts';

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * The real kubectl on one cluster, for what it prints and refuses; what tests only want to know of
 * objects is asked without a process.
 */
export class Kubectl {
  readonly #path: string;
  readonly #kubeconfig: string;

  constructor({ path, kubeconfig }: { readonly path: string; readonly kubeconfig: string }) {
    this.#path = path;
    this.#kubeconfig = kubeconfig;
  }

  /** Runs it, whatever it answers. */
  run(arguments_: readonly string[], input?: string): Promise<KubectlResult> {
    return new Promise((resolve) => {
      const child = execFile(
        this.#path,
        ['--kubeconfig', this.#kubeconfig, ...arguments_],
        { maxBuffer: 256 * 1024 * 1024 },
        (error, stdout, stderr) => {
          resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr });
        },
      );
      // A kubectl that ends before it has read all its input prints why.
      child.stdin?.on('error', () => undefined).end(input);
    });
  }

  /** Runs it; throws its output when it fails. */
  async must(arguments_: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(arguments_, input);
    if (code !== 0) throw new Error(`kubectl ${arguments_.join(' ')}: ${stderr}${stdout}`);
    return stdout;
  }

  /** Server-side apply, as field manager `e2e`. */
  async apply(...objects: readonly object[]): Promise<void> {
    await this.client.apply(objects);
  }

  /** What `kubectl apply --server-side` would do, which waits between its requests. */
  async applyAsKubectl(objects: readonly object[]): Promise<void> {
    await this.client.apply(objects, 'kubectl');
  }

  /** The client of this process that has the names of kubectl. */
  get client(): ClusterClient {
    return ClusterClient.of(this.#kubeconfig);
  }

  async get(kind: string, name: string, namespace?: string): Promise<KubernetesObject> {
    return await this.client.get(kind, name, namespace);
  }

  /** Of some kinds, separated by commas, in all namespaces. */
  async list(kinds: string, selector?: string): Promise<readonly KubernetesObject[]> {
    return await this.client.list(kinds, selector);
  }

  /** Deletes the existing ones, and waits for their deletion. */
  async delete(objects: readonly object[]): Promise<void> {
    await this.client.delete(objects);
  }

  /** Labels all nodes; null takes the label off. */
  async labelNodes(labels: Readonly<Record<string, string | null>>): Promise<void> {
    for (const object of await this.list('nodes')) {
      await this.client.patchAs('kubectl-label', { object }, { metadata: { labels } });
    }
  }

  /** `kubectl delete KINDS NAME…`. */
  async deleteNamed(
    kinds: string,
    names: readonly string[],
    options: DeletionOptions = {},
  ): Promise<void> {
    await this.client.deleteNamed(kinds, names, options);
  }

  /** `kubectl delete KINDS --all`, or those with labels. */
  async deleteAll(
    kinds: string,
    options: DeletionOptions & { selector?: string } = {},
  ): Promise<void> {
    await this.client.deleteAll(kinds, options);
  }

  /** Where no manager runs that would take its finalizers away. */
  async remove(kind: string, name: string): Promise<void> {
    await this.run(['delete', kind, name, '--wait=false']);
    await this.run(['patch', kind, name, '--type=merge', '-p', '{"metadata":{"finalizers":null}}']);
  }

  async exists(kind: string, name: string, namespace?: string): Promise<boolean> {
    return await this.client.exists(kind, name, namespace);
  }
}

/** One condition of an object's status. */
export function conditionOf(object: KubernetesObject, type: string): Condition | undefined {
  const status = object['status'] as { conditions?: readonly Condition[] } | undefined;
  return status?.conditions?.find((condition) => condition.type === type);
}
