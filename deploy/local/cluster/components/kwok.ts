import { join } from 'node:path';
import { shippedFile } from '../../shipped-file.ts';
import type { Layout } from '../layout.ts';
import type { Part } from '../processes.ts';

const STAGES = ['configuration', 'node', 'pod'].map((name) => shippedFile(`kwok/${name}.yaml`));

export const NODE_NAME = 'local';

/** The node that kwok simulates: it runs no container, and its pods become ready at once. */
export const NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: NODE_NAME,
    annotations: { 'kwok.x-k8s.io/node': 'fake' },
    labels: {
      'kubernetes.io/arch': 'amd64',
      'kubernetes.io/hostname': NODE_NAME,
      'kubernetes.io/os': 'linux',
    },
  },
};

export function kwok(binary: string, layout: Layout, kubeconfig: string): Part {
  return {
    name: 'kwok',
    binary,
    log: join(layout.logs, 'kwok.log'),
    args: [
      `--kubeconfig=${kubeconfig}`,
      ...STAGES.map((file) => `--config=${file}`),
      '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
    ],
  };
}
