import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kubectl } from './kubectl.ts';

export interface ServiceAccount {
  readonly namespace: string;
  readonly name: string;
}

/** A token as pods get them, by the TokenRequest API. */
export async function tokenOf(
  kubectl: Kubectl,
  { namespace, name }: ServiceAccount,
): Promise<string> {
  const token = await kubectl.must(['create', 'token', name, '--namespace', namespace]);
  return token.trim();
}

/** Writes a kubeconfig of the account to a folder, its token in a file as in pods; the path. */
export async function writeKubeconfig(
  kubectl: Kubectl,
  account: ServiceAccount,
  folder: string,
): Promise<string> {
  const tokenFile = join(folder, 'token');
  await writeFile(tokenFile, `${await tokenOf(kubectl, account)}\n`, { mode: 0o600 });
  const view = await kubectl.must(['config', 'view', '--raw', '--minify', '--output=json']);
  const { clusters } = JSON.parse(view) as { clusters: readonly { name: string }[] };
  const path = join(folder, 'kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters,
    users: [{ name: account.name, user: { tokenFile } }],
    contexts: [{ name: 'pod', context: { cluster: clusters[0]?.name, user: account.name } }],
    'current-context': 'pod',
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

/** Writes what the kubelet mounts for the account into a folder; the API server's address. */
export async function writeAccountFolder(
  kubectl: Kubectl,
  account: ServiceAccount,
  folder: string,
): Promise<URL> {
  const view = await kubectl.must(['config', 'view', '--raw', '--minify', '--output=json']);
  const [{ cluster }] = (JSON.parse(view) as { clusters: [{ cluster: Record<string, string> }] })
    .clusters;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'token'), await tokenOf(kubectl, account));
  await writeFile(join(folder, 'namespace'), account.namespace);
  const ca = Buffer.from(cluster['certificate-authority-data'] ?? '', 'base64');
  await writeFile(join(folder, 'ca.crt'), ca);
  return new URL(cluster['server'] ?? '');
}
