import { join } from 'node:path';
import type { Layout } from '../layout.ts';
import { LOOPBACK } from '../ports.ts';
import type { Part } from '../processes.ts';

export interface EtcdPorts {
  readonly etcd: number;
  readonly etcdPeer: number;
}

export function etcdUrl({ etcd }: EtcdPorts): string {
  return `http://${LOOPBACK}:${etcd}`;
}

export function etcd(binary: string, layout: Layout, ports: EtcdPorts): Part {
  const client = etcdUrl(ports);
  const peer = `http://${LOOPBACK}:${ports.etcdPeer}`;
  return {
    name: 'etcd',
    binary,
    log: join(layout.logs, 'etcd.log'),
    args: [
      '--name=local',
      `--data-dir=${layout.etcdData}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=local=${peer}`,
      // A test cluster may lose its last second in a power failure, and becomes much faster.
      '--unsafe-no-fsync',
      '--log-level=warn',
    ],
  };
}
