import { join } from 'node:path';
import type { Layout } from './layout.ts';
import type { Part } from './processes.ts';

export function controllerManager(binary: string, layout: Layout, kubeconfig: string): Part {
  return {
    name: 'kube-controller-manager',
    binary,
    log: join(layout.logs, 'kube-controller-manager.log'),
    args: [
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--secure-port=0',
      '--use-service-account-credentials=true',
      `--service-account-private-key-file=${join(layout.pki, 'serviceAccount.key')}`,
      `--root-ca-file=${join(layout.pki, 'ca.crt')}`,
      `--cluster-signing-cert-file=${join(layout.pki, 'ca.crt')}`,
      `--cluster-signing-key-file=${join(layout.pki, 'ca.key')}`,
      // The one node is simulated and reports seldom; a laptop that slept must not evict pods.
      '--node-monitor-grace-period=24h',
      '--profiling=false',
      // The default rate makes the creation of its own service accounts take five seconds.
      '--kube-api-qps=500',
      '--kube-api-burst=1000',
    ],
  };
}
