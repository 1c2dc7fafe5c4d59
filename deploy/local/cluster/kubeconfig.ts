import { writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import type { KeyPair } from './certificates.ts';

export interface KubeconfigContent {
  readonly server: string;
  /** PEM of the CA of the server's certificate. */
  readonly ca: string;
  readonly user: string;
  readonly credentials: KeyPair;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Writes a kubeconfig that contains its certificates and names no other file. */
export async function writeKubeconfig(file: string, content: KubeconfigContent): Promise<void> {
  const name = 'rukpak-local';
  const document = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [
      {
        name,
        cluster: { server: content.server, 'certificate-authority-data': base64(content.ca) },
      },
    ],
    users: [
      {
        name: content.user,
        user: {
          'client-certificate-data': base64(content.credentials.cert),
          'client-key-data': base64(content.credentials.key),
        },
      },
    ],
    contexts: [{ name, context: { cluster: name, user: content.user } }],
  };
  await writeFile(file, stringify(document), { mode: 0o600 });
}
