import { X509Certificate } from 'node:crypto';
import type { SecretContent, SecretReader } from '../../contracts/source.ts';
import { errorMessage } from '../../errors.ts';
import { emptyKeychain, type Keychain, parseDockerConfig } from '../../registry/index.ts';

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

/** TLS itself passes over what is no certificate, and then trusts less than was asked for. */
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
