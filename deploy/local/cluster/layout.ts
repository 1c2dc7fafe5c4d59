import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Paths of one cluster below its folder. */
export interface Layout {
  readonly dir: string;
  /** Processes and addresses; this file marks a folder as a cluster's. */
  readonly state: string;
  readonly kubeconfig: string;
  /** URL of the content server of `rukpak all` on this cluster. */
  readonly contentServer: string;
  readonly audit: string;
  readonly pki: string;
  readonly logs: string;
  readonly config: string;
  readonly etcdData: string;
  readonly registryData: string;
  /** Files of programs that use the cluster; removed with it. */
  readonly companions: string;
}

export function layoutOf(dir: string): Layout {
  return {
    dir,
    state: join(dir, 'cluster.json'),
    kubeconfig: join(dir, 'kubeconfig'),
    contentServer: join(dir, 'content-server.json'),
    audit: join(dir, 'audit.log'),
    pki: join(dir, 'pki'),
    logs: join(dir, 'logs'),
    config: join(dir, 'config'),
    etcdData: join(dir, 'etcd'),
    registryData: join(dir, 'registry'),
    companions: join(dir, 'companions'),
  };
}

/** The names in the folder; none when the folder does not exist. */
export async function entriesOf(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
