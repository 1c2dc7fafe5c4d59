import { X509Certificate } from 'node:crypto';
import type { SecretContent, SecretReader } from '../../contracts/source.ts';
import { errorMessage } from '../../errors.ts';
import { emptyKeychain, type Keychain, parseDockerConfig } from './keychain.ts';

/** What a pull secret says about a registry. */
export interface PullSecret {
  readonly keychain: Keychain;
  /** PEM certificates of authorities to trust besides the system's, under the key `ca.crt`. */
  readonly caCertificates?: string;
}

const formats = {
  'kubernetes.io/dockerconfigjson': { key: '.dockerconfigjson', format: 'config.json' },
  'kubernetes.io/dockercfg': { key: '.dockercfg', format: 'dockercfg' },
} as const;

/**
 * Reads the Secret that an image source names; no name means no credentials, and so does a Secret
 * that is not there, as for kubelets. One that is wrong may be put right, so every error here is
 * worth another try.
 */
export async function readPullSecret(
  name: string | undefined,
  secrets: SecretReader,
  signal: AbortSignal,
): Promise<PullSecret> {
  if (name === undefined || name === '') return { keychain: emptyKeychain };
  const secret = await secrets.read(name, signal);
  if (secret === undefined) {
    const shortcoming = `pull secret "${name}" not found in the system namespace`;
    return { keychain: { ...emptyKeychain, shortcoming } };
  }
  const keychain = keychainOf(name, secret);
  const ca = secret.data.get('ca.crt');
  return ca === undefined ? { keychain } : { keychain, caCertificates: checkedPem(name, text(ca)) };
}

/** TLS itself passes over what is no certificate, and then trusts less than was asked for. */
function checkedPem(name: string, pem: string): string {
  try {
    new X509Certificate(pem).toString();
    return pem;
  } catch (error) {
    throw new Error(
      `pull secret "${name}" of the system namespace cannot be read: ca.crt: it is not a PEM certificate`,
      { cause: error },
    );
  }
}

function keychainOf(name: string, secret: SecretContent): Keychain {
  const { key, format } = formatOf(name, secret.type);
  const value = secret.data.get(key);
  if (value === undefined) {
    throw new Error(
      `pull secret "${name}" of the system namespace has no key "${key}", which its type ${secret.type} requires`,
    );
  }
  try {
    return parseDockerConfig(text(value), format);
  } catch (error) {
    throw new Error(
      `pull secret "${name}" of the system namespace cannot be read: ${key}: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

function formatOf(name: string, type: string): (typeof formats)[keyof typeof formats] {
  if (type === 'kubernetes.io/dockerconfigjson' || type === 'kubernetes.io/dockercfg') {
    return formats[type];
  }
  throw new Error(
    `pull secret "${name}" of the system namespace is of type ${type}; it must be kubernetes.io/dockerconfigjson`,
  );
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
