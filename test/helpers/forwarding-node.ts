import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { findBinaries } from '../../deploy/local/binaries/find-binaries.ts';
import { eventually } from './eventually.ts';
import { conditionOf, type Kubectl } from './kubectl.ts';
import { workerPorts } from './worker-ports.ts';

const stages = join(import.meta.dirname, '../../deploy/local/kwok');
const annotation = 'rukpak.test/node';

export interface ForwardingNodeOptions {
  readonly kubectl: Kubectl;
  readonly kubeconfig: string;
  /** Folder of the control plane: its certificate serves for the node's too. */
  readonly clusterDir: string;
  readonly name: string;
  /** Port of a pod on this node → port of this machine. */
  readonly forwards: Readonly<Record<number, number>>;
}

/**
 * A node that kwok plays with a kubelet endpoint, so that `kubectl port-forward`, and whoever else
 * goes that way through the API server, reaches processes of this machine. Pods that choose it by
 * its hostname are ready at once.
 */
export class ForwardingNode {
  readonly #options: ForwardingNodeOptions;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  static async start(options: ForwardingNodeOptions): Promise<ForwardingNode> {
    const folder = await mkdtemp(join(tmpdir(), 'rukpak-node-'));
    const node = new ForwardingNode(options, folder);
    try {
      await node.#start();
    } catch (error) {
      await node.remove();
      throw error;
    }
    return node;
  }

  private constructor(options: ForwardingNodeOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
  }

  /** Has the pods of a Deployment run here. */
  async take(namespace: string, deployment: string): Promise<void> {
    const { kubectl, name } = this.#options;
    const nodeSelector = { 'kubernetes.io/hostname': name };
    const patch = JSON.stringify({ spec: { template: { spec: { nodeSelector } } } });
    const target = [`deployment/${deployment}`, `--namespace=${namespace}`];
    await kubectl.must(['patch', ...target, '--patch', patch]);
    await kubectl.must(['rollout', 'status', ...target, '--timeout=300s']);
  }

  async remove(): Promise<void> {
    const { kubectl, name } = this.#options;
    await kubectl.deleteNamed('node', [name], { ignoreNotFound: true });
    const child = this.#process;
    if (child?.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    const { kubectl, kubeconfig, name } = this.#options;
    const { signal } = new AbortController();
    const { kwok } = await findBinaries({ onProgress: () => undefined, signal });
    const configs = [
      await this.#configuration(),
      await this.#nodeStages(),
      join(stages, 'pod.yaml'),
    ];
    const args = [`--kubeconfig=${kubeconfig}`, ...configs.map((file) => `--config=${file}`)];
    this.#process = spawn(kwok, args, { stdio: 'ignore' });
    const labels = { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' };
    const metadata = { name, labels, annotations: { [annotation]: name } };
    await kubectl.apply({ apiVersion: 'v1', kind: 'Node', metadata });
    await eventually(async () => {
      const ready = conditionOf(await kubectl.get('node', name), 'Ready');
      if (ready?.status !== 'True') throw new Error(`node ${name} is not ready`);
    });
  }

  async #configuration(): Promise<string> {
    const { clusterDir, name, forwards } = this.#options;
    const [nodePort = 0] = await workerPorts(1);
    const pki = join(clusterDir, 'pki');
    const configuration = {
      apiVersion: 'config.kwok.x-k8s.io/v1alpha1',
      kind: 'KwokConfiguration',
      options: {
        cidr: '10.245.0.0/16',
        nodeIP: '127.0.0.1',
        nodePort,
        serverAddress: `127.0.0.1:${nodePort}`,
        tlsCertFile: join(pki, 'server.crt'),
        tlsPrivateKeyFile: join(pki, 'server.key'),
        enableDebuggingHandlers: true,
        manageNodesWithAnnotationSelector: `${annotation}=${name}`,
        nodeLeaseDurationSeconds: 0,
        nodePlayStageParallelism: 1,
        podPlayStageParallelism: 1,
      },
    };
    const forward = {
      apiVersion: 'kwok.x-k8s.io/v1alpha1',
      kind: 'ClusterPortForward',
      metadata: { name },
      spec: {
        forwards: Object.entries(forwards).map(([port, local]) => ({
          ports: [Number(port)],
          target: { address: '127.0.0.1', port: local },
        })),
      },
    };
    return await this.#write('configuration.yaml', stringify(configuration), stringify(forward));
  }

  /** Those of the local cluster, but the API server is told where to reach the kubelet. */
  async #nodeStages(): Promise<string> {
    const text = await readFile(join(stages, 'node.yaml'), 'utf8');
    const reachable = text
      .replace(
        /^( *)addresses:/m,
        '$1daemonEndpoints: { kubeletEndpoint: { Port: {{ NodePort }} } }\n$&',
      )
      // No name server knows it, and the API server prefers names.
      .replace(/^ *- type: Hostname\n.*\n/m, '');
    return await this.#write('node.yaml', reachable);
  }

  async #write(name: string, ...documents: readonly string[]): Promise<string> {
    const file = join(this.#folder, name);
    await writeFile(file, documents.join('---\n'));
    return file;
  }
}
