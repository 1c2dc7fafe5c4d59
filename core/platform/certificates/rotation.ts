import { isDeepStrictEqual } from 'node:util';
import type { KubernetesObject } from '../../../api/meta.ts';
import type { Logger } from '../../contracts/logger.ts';
import type { Clock } from '../clock.ts';
import {
  hasCode,
  type KubeClient,
  liveObject,
  type ObjectKey,
  secretResource,
} from '../kube/index.ts';
import { ObjectController } from '../runtime/index.ts';
import { type CertificateState, lacksOnlyHosts, renewCertificates } from './renewal.ts';

interface CertificateRotationOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update' | 'list' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The Secret with which replicas share the certificates, across restarts. */
  readonly secret: ObjectKey;
  /** DNS names and IP addresses of the serving certificate. */
  readonly hosts: readonly string[];
}

interface CertificateRotation {
  /** The present certificates, issued or renewed if due. */
  ensure(signal: AbortSignal): Promise<CertificateState>;
  /**
   * Renews the Secret and calls `onChange` for every change of it, until the signal is aborted.
   * While nothing is due, it sends no request except the watch.
   */
  run(onChange: (state: CertificateState) => void, signal: AbortSignal): Promise<void>;
}

/**
 * Milliseconds between checks of the expiry, which cost no request, and between two certificates that
 * replace a good one for the sake of more hosts.
 */
const resync = 10 * 60_000;

const maxConflicts = 10;

/**
 * Certificates that core issues itself, in a Secret. Replicas agree by the Secret's
 * resourceVersion.
 */
export function createCertificateRotation(
  options: CertificateRotationOptions,
): CertificateRotation {
  const { clock, logger, secret: key, hosts } = options;
  let current: CertificateState | undefined;
  let extendedAt = Number.NEGATIVE_INFINITY;

  /** Whether the stored certificates are the ones to use now. */
  async function isUpToDate(stored: CertificateState): Promise<boolean> {
    const now = clock.now();
    if (!lacksOnlyHosts(stored, hosts, now)) {
      return (await renewCertificates(stored, hosts, now)) === stored;
    }
    if (clock.monotonic() - extendedAt >= resync) {
      extendedAt = clock.monotonic();
      return false;
    }
    logger.warn(
      { secret: `${key.namespace}/${key.name}`, hosts },
      'the serving certificate is not for all hosts of this process: another process replaces it',
    );
    return true;
  }

  async function ensure(signal: AbortSignal): Promise<CertificateState> {
    for (let attempt = 0; attempt < maxConflicts; attempt += 1) {
      const secret = await readSecret(options, signal);
      const stored = decodeSecret(secret);
      // Restores a deleted or damaged Secret from memory, because clients trust that CA.
      const state = await renewCertificates(stored ?? current, hosts, clock.now());
      if (state === stored || (await writeSecret(options, { secret, state, signal }))) {
        current = state;
        return state;
      }
    }
    throw new Error(
      `the Secret ${key.namespace}/${key.name} was changed by others ${maxConflicts} times in a row`,
    );
  }

  async function run(
    onChange: (state: CertificateState) => void,
    signal: AbortSignal,
  ): Promise<void> {
    let told: CertificateState | undefined;
    const controller = new ObjectController({
      ...options,
      name: 'renewal of serving certificates',
      resource: secretResource,
      key,
      resync,
      reconcile: async (secret, stopping) => {
        const stored = decodeSecret(secret);
        const isUsed = stored !== undefined && (await isUpToDate(stored));
        current = isUsed ? stored : await ensure(stopping);
        if (isDeepStrictEqual(current, told)) return;
        told = current;
        onChange(current);
      },
    });
    await controller.run(signal);
  }

  return { ensure, run };
}

async function readSecret(
  { client, secret: key }: CertificateRotationOptions,
  signal: AbortSignal,
): Promise<KubernetesObject | undefined> {
  const secret = await liveObject(client, { resource: secretResource, key }, signal);
  if (secret?.metadata.annotations?.['cert-manager.io/certificate-name'] === undefined) {
    return secret;
  }
  throw new Error(
    `the Secret ${key.namespace}/${key.name} belongs to cert-manager: mount it and name the folder by --cert-dir, or delete its Certificate and the Secret`,
  );
}

interface SecretWrite {
  /** The live Secret, if it exists. */
  readonly secret: KubernetesObject | undefined;
  readonly state: CertificateState;
  readonly signal: AbortSignal;
}

/** Resolves to false when somebody else has written the Secret meanwhile. */
async function writeSecret(
  { client, secret: key, logger }: CertificateRotationOptions,
  { secret, state, signal }: SecretWrite,
): Promise<boolean> {
  const object = encodeSecret(key, state, secret);
  try {
    if (secret === undefined) await client.create(secretResource, object, signal);
    else await client.update(secretResource, object, signal);
  } catch (error) {
    if (hasCode(error, 409)) return false;
    throw error;
  }
  logger.info({ secret: `${key.namespace}/${key.name}` }, 'serving certificates were renewed');
  return true;
}

/** The state in a Secret; undefined when it is incomplete. */
function decodeSecret(secret: KubernetesObject | undefined): CertificateState | undefined {
  const data = secret?.['data'];
  const caBundle = decode(data, 'ca.crt');
  const caKey = decode(data, 'ca.key');
  const certificate = decode(data, 'tls.crt');
  const privateKey = decode(data, 'tls.key');
  if (!caBundle || !caKey || !certificate || !privateKey) return undefined;
  return { caBundle, caKey, serving: { certificate, privateKey } };
}

/** The Secret for a state; `existing` keeps its metadata and its other keys. */
function encodeSecret(
  key: ObjectKey,
  state: CertificateState,
  existing: KubernetesObject | undefined,
): KubernetesObject {
  const others = existing?.['data'];
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: existing?.metadata ?? { name: key.name, namespace: key.namespace ?? '' },
    type: existing?.['type'] ?? 'kubernetes.io/tls',
    data: {
      ...(isObject(others) ? others : {}),
      'ca.crt': encode(state.caBundle),
      'ca.key': encode(state.caKey),
      'tls.crt': encode(state.serving.certificate),
      'tls.key': encode(state.serving.privateKey),
    },
  };
}

function decode(data: unknown, key: string): string {
  const value = isObject(data) ? data[key] : undefined;
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : '';
}

function encode(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
