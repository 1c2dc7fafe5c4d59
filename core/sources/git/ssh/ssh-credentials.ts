import type { ParsedKey } from 'ssh2';
import { errorMessage, TerminalError } from '../../../errors.ts';
import type { AuthSecret } from '../auth-secret.ts';
import type { SSHAddress } from '../repository-address.ts';
import { HostKeys } from './host-keys.ts';
import { parseKnownHosts } from './known-hosts.ts';
import { parsePrivateKey } from './private-key.ts';

export interface SSHCredentials {
  readonly key: ParsedKey;
  /** Where the key is from, for messages. */
  readonly secretName: string;
  /** Undefined accepts any host key. */
  readonly hostKeys: HostKeys | undefined;
}

/**
 * The keys `ssh-privatekey`, `passphrase` and `ssh-knownhosts` of the Secret.
 * There is no other place for known hosts: a pod has no user's or system's file of them.
 */
export async function sshCredentials(
  secret: AuthSecret | undefined,
  address: SSHAddress,
  insecureSkipVerify: boolean,
): Promise<SSHCredentials> {
  if (secret === undefined) {
    throw new TerminalError(
      'configuring Auth error: a git repository over SSH needs git.auth.secret.name: a Secret with the keys "ssh-privatekey" and "ssh-knownhosts"',
    );
  }
  const key = await privateKey(secret);
  const hostKeys = insecureSkipVerify ? undefined : knownHosts(secret, address);
  return { key, secretName: secret.name, hostKeys };
}

async function privateKey(secret: AuthSecret): Promise<ParsedKey> {
  const text = secret.text('ssh-privatekey');
  if (text === undefined) {
    throw new Error(
      `configuring Auth error: ssh: no key found: Secret "${secret.name}" has no key "ssh-privatekey"`,
    );
  }
  // Files that passphrases are read from tend to end in a line break.
  const passphrase = secret.text('passphrase')?.replace(/\r?\n$/, '');
  try {
    return await parsePrivateKey(text, passphrase);
  } catch (error) {
    const remedy = /passphrase/.test(errorMessage(error))
      ? `: put the right one into key "passphrase" of Secret "${secret.name}"`
      : '';
    throw new Error(`configuring Auth error: ${errorMessage(error)}${remedy}`, { cause: error });
  }
}

function knownHosts(secret: AuthSecret, address: SSHAddress): HostKeys {
  const text = secret.text('ssh-knownhosts');
  if (text === undefined) {
    const { host, port } = address;
    const target = port === 22 ? host : `-p ${port} ${host}`;
    throw new Error(
      `configuring Auth error: Secret "${secret.name}" has no key "ssh-knownhosts", so nothing tells whether "${host}" is the right host: put its known_hosts lines there (ssh-keyscan ${target} prints them), or set git.auth.insecureSkipVerify`,
    );
  }
  return new HostKeys(
    parseKnownHosts(text),
    address,
    `key "ssh-knownhosts" of Secret "${secret.name}"`,
  );
}
