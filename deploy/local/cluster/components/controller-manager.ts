import { join } from 'node:path';
import type { Layout } from '../layout.ts';
import type { Part } from '../processes.ts';

export interface ControllerManagerOptions {
  readonly kubeconfig: string;
  /** Requests per second. */
  readonly rate: number;
}

/**
 * With the default of 20 the controller manager needs five seconds to create its own service
 * accounts.
 */
export const CONTROLLER_RATE = 500;

export function controllerManager(
  binary: string,
  layout: Layout,
  { kubeconfig, rate }: ControllerManagerOptions,
): Part {
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
      // The single node is simulated and reports rarely; a laptop that slept must not evict pods.
      '--node-monitor-grace-period=24h',
      '--profiling=false',
      `--kube-api-qps=${rate}`,
      // In the proportion of its defaults, 20 and 30.
      `--kube-api-burst=${rate * 1.5}`,
    ],
  };
}
