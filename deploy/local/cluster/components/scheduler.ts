import { join } from 'node:path';
import type { Layout } from '../layout.ts';
import type { Part } from '../processes.ts';

export function scheduler(binary: string, layout: Layout, kubeconfig: string): Part {
  return {
    name: 'kube-scheduler',
    binary,
    log: join(layout.logs, 'kube-scheduler.log'),
    args: [
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--secure-port=0',
      '--profiling=false',
      '--kube-api-qps=500',
      '--kube-api-burst=1000',
    ],
  };
}
