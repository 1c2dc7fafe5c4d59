import { execFile } from 'node:child_process';
import { parseJson, stringifyJson } from '../../api/json.ts';
import type { Condition, KubernetesObject } from '../../api/meta.ts';

export interface KubectlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The real kubectl, on one cluster. */
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
      // One that ends before it has read all of it says why.
      child.stdin?.on('error', () => undefined).end(input);
    });
  }

  /** Runs it and throws what it printed where it fails. */
  async must(arguments_: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(arguments_, input);
    if (code !== 0) throw new Error(`kubectl ${arguments_.join(' ')}: ${stderr}${stdout}`);
    return stdout;
  }

  async apply(...objects: readonly object[]): Promise<void> {
    const items = objects.map((object) => stringifyJson(object));
    const list = `{"apiVersion":"v1","kind":"List","items":[${items.join(',')}]}`;
    await this.must(['apply', '--server-side', '--field-manager=e2e', '-f', '-'], list);
  }

  async get(kind: string, name: string, namespace?: string): Promise<KubernetesObject> {
    const place = namespace === undefined ? [] : ['--namespace', namespace];
    return parseObject(await this.must(['get', kind, name, ...place, '--output=json']));
  }

  async list(kind: string, selector?: string): Promise<readonly KubernetesObject[]> {
    const wanted = selector === undefined ? [] : ['--selector', selector];
    const text = await this.must(['get', kind, '--all-namespaces', ...wanted, '--output=json']);
    return parseObject(text)['items'] as readonly KubernetesObject[];
  }

  async exists(kind: string, name: string, namespace?: string): Promise<boolean> {
    const place = namespace === undefined ? [] : ['--namespace', namespace];
    const found = await this.must(['get', kind, name, ...place, '--ignore-not-found', '-o=name']);
    return found !== '';
  }
}

function parseObject(text: string): KubernetesObject {
  return parseJson(text) as unknown as KubernetesObject;
}

/** One condition of an object's status. */
export function conditionOf(object: KubernetesObject, type: string): Condition | undefined {
  const status = object['status'] as { conditions?: readonly Condition[] } | undefined;
  return status?.conditions?.find((condition) => condition.type === type);
}
