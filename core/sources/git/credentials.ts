import { X509Certificate } from 'node:crypto';
import type { ParsedKey } from 'ssh2';
import type { GitSource } from '../../../api/v1alpha1/bundle.ts';
import type { SecretReader } from '../../contracts/source.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import type { SSHAddress } from './repository-address.ts';
import { HostKeys, parseKnownHosts } from './ssh/known-hosts.ts';
import { parsePrivateKey } from './ssh/private-key.ts';

/** The Secret of `git.auth.secret`. */
interface AuthSecret {
  readonly name: string;
  /** The value of a key as text; undefined without the key. */
  text(key: string): string | undefined;
}

/**
 * Undefined when the source names none.
 * @throws Error when the Secret does not exist; it may be created later
 */
export async function readAuthSecret(
  { auth }: GitSource,
  secrets: SecretReader,
  signal: AbortSignal,
): Promise<AuthSecret | undefined> {
  const name = auth?.secret?.name ?? '';
  if (name === '') return undefined;
  const secret = await secrets.read(name, signal);
  if (secret === undefined) throw new Error(`configuring Auth error: Secret "${name}" not found`);
  return {
    name,
    text: (key) => {
      const value = secret.data.get(key);
      return value === undefined ? undefined : Buffer.from(value).toString('utf8');
    },
  };
}

export interface HTTPCredentials {
  readonly basic?: BasicAuth | undefined;
  /** PEM certificates of trusted CAs, in addition to the system's. */
  readonly caCertificates: readonly string[];
}

interface BasicAuth {
  readonly username: string;
  readonly password: string;
}

/**
 * Login and CA for an HTTP server: the keys `username`, `password` and `ca.crt` of the Secret. A
 * missing key is an empty string, but a Secret with only `ca.crt` is not a login. Without a Secret
 * the URL's own user counts.
 * @throws TerminalError when that is not percent-encoded
 */
export function httpCredentials(secret: AuthSecret | undefined, url: URL): HTTPCredentials {
  if (secret === undefined) return { basic: userOf(url), caCertificates: [] };
  const authority = secret.text('ca.crt');
  const username = secret.text('username');
  const password = secret.text('password');
  const isLogin = authority === undefined || username !== undefined || password !== undefined;
  return {
    basic: isLogin ? { username: username ?? '', password: password ?? '' } : undefined,
    caCertificates: authority === undefined ? [] : [checkedAuthority(authority, secret.name)],
  };
}

function userOf({ username, password }: URL): BasicAuth | undefined {
  if (username === '' && password === '') return undefined;
  try {
    return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
  } catch {
    throw new TerminalError(
      'bundle source git.repository has a user or password with a "%" that is not percent-encoding: write it as "%25", or put both into the Secret that git.auth.secret names',
    );
  }
}

/** An unreadable certificate would otherwise show only when a server is not trusted. */
function checkedAuthority(pem: string, name: string): string {
  try {
    // The first of several shows whether the text is PEM at all.
    new X509Certificate(pem).toString();
    return pem;
  } catch (error) {
    throw new Error(
      `configuring Auth error: key "ca.crt" of Secret "${name}" holds no certificate in PEM form`,
      { cause: error },
    );
  }
}

export interface SSHCredentials {
  readonly key: ParsedKey;
  /** Secret of the key, for messages. */
  readonly secretName: string;
  /** Undefined accepts any host key. */
  readonly hostKeys: HostKeys | undefined;
}

/**
 * The keys `ssh-privatekey`, `passphrase` and `ssh-knownhosts` of the Secret. Core reads no other
 * known hosts, because a pod has no such file of a user or system.
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
  // Files with passphrases usually end in a line break.
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
      `configuring Auth error: Secret "${secret.name}" has no key "ssh-knownhosts", so core cannot verify that "${host}" is the right host: put its known_hosts lines there (ssh-keyscan ${target} prints them), or set git.auth.insecureSkipVerify`,
    );
  }
  return new HostKeys(
    parseKnownHosts(text),
    address,
    `key "ssh-knownhosts" of Secret "${secret.name}"`,
  );
}
