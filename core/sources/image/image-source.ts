import { X509Certificate } from 'node:crypto';
import type { BundleSource, ImageSource } from '../../../api/v1alpha1/bundle.ts';
import type {
  SecretContent,
  SecretReader,
  Source,
  SourceContext,
  SourceResult,
  SourceType,
} from '../../contracts/source.ts';
import { errorMessage, TerminalError } from '../../errors.ts';
import {
  emptyKeychain,
  type ImageReference,
  type Keychain,
  parseDockerConfig,
  parseImageReference,
  repositoryName,
} from '../../registry/index.ts';
import { ImagePuller, type ImagePullerOptions } from './image-puller.ts';

/** Sources of type image, pinned to the digest of the manifest. */
export const imageType: SourceType = {
  type: 'image',
  pin: {
    of: (source) => referenceOf(source)?.digest,
    at: pinnedTo,
    place: (source) => {
      const reference = referenceOf(source);
      return reference && repositoryName(reference);
    },
  },
  host: (source) => {
    const reference = referenceOf(source);
    return (reference && URL.parse(`https://${reference.domain}`)) ?? undefined;
  },
  secret: ({ image }) => image?.pullSecret,
  secretsListHosts: true,
  shareable: true,
};

function pinnedTo(source: BundleSource, digest: string): BundleSource | undefined {
  const reference = referenceOf(source);
  if (reference === undefined || !/^sha(?:256|512):[0-9a-f]{64,128}$/.test(digest))
    return undefined;
  return { ...source, image: { ...source.image, ref: `${repositoryName(reference)}@${digest}` } };
}

function referenceOf({ image }: BundleSource): ImageReference | undefined {
  try {
    return image && parseImageReference(image.ref);
  } catch {
    // The fetch reports the invalid reference.
    return undefined;
  }
}

/** Content of an image in an OCI registry. */
export function createImageSource(options: ImagePullerOptions): Source {
  const puller = new ImagePuller(options);
  const toldOf = new Set<string>();
  return {
    ...imageType,
    fetch: async ({ image }, context) => {
      if (image === undefined) {
        throw new TerminalError('bundle source image configuration is unset');
      }
      return await fetchImage(image, context, { puller, toldOf });
    },
  };
}

async function fetchImage(
  image: ImageSource,
  { secrets, limits, signal, memory, logger }: SourceContext,
  { puller, toldOf }: { readonly puller: ImagePuller; readonly toldOf: Set<string> },
): Promise<SourceResult> {
  const pullSecret = await readPullSecret(image.pullSecret, secrets, signal);
  const { shortcoming } = pullSecret.keychain;
  const { pullSecret: name = '' } = image;
  if (shortcoming !== undefined && !toldOf.has(name)) {
    toldOf.add(name);
    logger.info({ pullSecret: name }, shortcoming);
  }
  const { files, pinnedRef } = await puller.pull(image.ref, {
    ...pullSecret,
    limits,
    signal,
    memory,
  });
  return { files, resolvedSource: { type: 'image', image: { ...image, ref: pinnedRef } } };
}

/** The content of a pull secret for a registry. */
interface PullSecret {
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
