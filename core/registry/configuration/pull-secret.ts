import { X509Certificate } from 'node:crypto';
import type { SecretContent, SecretReader } from '../../contracts/source.ts';
import { errorMessage } from '../../errors.ts';
import { emptyKeychain, type Keychain, parseDockerConfig } from './keychain.ts';

/** The content of a pull secret for a registry. */
export interface PullSecret {
  readonly keychain: Keychain;
  /** PEM certificates of trusted CAs in addition to the system's, from the key `ca.crt`. */
  readonly caCertificates?: string;
}

const formats = {
  'kubernetes.io/dockerconfigjson': { key: '.dockerconfigjson', format: 'config.json' },
  'kubernetes.io/dockercfg': { key: '.dockercfg', format: 'dockercfg' },
} as const;

/**
 * Reads the Secret of an image source; no credentials without a name, or when the Secret does not
 * exist, as in the kubelet. Its errors are retried, because a wrong Secret may be repaired.
 */
export async function readPullSecret(
  name: string | undefined,
  secrets: SecretReader,
  signal: AbortSignal,
): Promise<PullSecret> {
  if (name === undefined || name === '') return { keychain: emptyKeychain };
  const { place = 'the system namespace' } = secrets;
  const secret = await secrets.read(name, signal);
  if (secret === undefined) {
    const shortcoming = `pull secret "${name}" not found in ${place}`;
    return { keychain: { ...emptyKeychain, shortcoming } };
  }
  const shown = `pull secret "${name}" of ${place}`;
  const keychain = keychainOf(shown, secret);
  const ca = secret.data.get('ca.crt');
  return ca === undefined
    ? { keychain }
    : { keychain, caCertificates: checkedPem(shown, text(ca)) };
}

/**
 * TLS itself ignores text that is not a certificate, and would then trust fewer CAs than
 * configured.
 */
function checkedPem(shown: string, pem: string): string {
  try {
    new X509Certificate(pem).toString();
    return pem;
  } catch (error) {
    throw new Error(`${shown} cannot be read: ca.crt: it is not a PEM certificate`, {
      cause: error,
    });
  }
}

function keychainOf(shown: string, secret: SecretContent): Keychain {
  const { key, format } = formatOf(shown, secret.type);
  const value = secret.data.get(key);
  if (value === undefined) {
    throw new Error(`${shown} has no key "${key}", which its type ${secret.type} requires`);
  }
  try {
    return parseDockerConfig(text(value), format);
  } catch (error) {
    throw new Error(`${shown} cannot be read: ${key}: ${errorMessage(error)}`, { cause: error });
  }
}

function formatOf(shown: string, type: string): (typeof formats)[keyof typeof formats] {
  if (type === 'kubernetes.io/dockerconfigjson' || type === 'kubernetes.io/dockercfg') {
    return formats[type];
  }
  throw new Error(`${shown} is of type ${type}; it must be kubernetes.io/dockerconfigjson`);
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
