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
import { type CertificateState, renewCertificates } from './renewal.ts';

interface CertificateRotationOptions {
  readonly client: Pick<KubeClient, 'get' | 'create' | 'update' | 'list' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The Secret through which replicas and restarts share the certificates. */
  readonly secret: ObjectKey;
  /** DNS names and IP addresses that the serving certificate is for. */
  readonly hosts: readonly string[];
}

interface CertificateRotation {
  /** The certificates as they stand, made or renewed where that is due. */
  ensure(signal: AbortSignal): Promise<CertificateState>;
  /**
   * Keeps the Secret renewed and calls `onChange` whenever it holds something new, until the
   * signal is aborted. Sends no request but the watch while nothing is due.
   */
  run(onChange: (state: CertificateState) => void, signal: AbortSignal): Promise<void>;
}

/** A look at the clock; costs no request. */
const resync = 10 * 60_000;

const maxConflicts = 10;

/** Certificates of our own, in a Secret. Replicas agree by the Secret's resourceVersion. */
export function createCertificateRotation(
  options: CertificateRotationOptions,
): CertificateRotation {
  const { clock, secret: key, hosts } = options;
  let current: CertificateState | undefined;

  async function ensure(signal: AbortSignal): Promise<CertificateState> {
    for (let attempt = 0; attempt < maxConflicts; attempt += 1) {
      const secret = await readSecret(options, signal);
      const stored = decodeSecret(secret);
      // A Secret that was deleted or damaged is put back as we know it: clients trust that CA.
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
        const isUpToDate =
          stored !== undefined && (await renewCertificates(stored, hosts, clock.now())) === stored;
        current = isUpToDate ? stored : await ensure(stopping);
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
  /** The live Secret, where there is one. */
  readonly secret: KubernetesObject | undefined;
  readonly state: CertificateState;
  readonly signal: AbortSignal;
}

/** Resolves to false where someone else has written in between. */
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

/** The state in a Secret, or undefined where it is incomplete. */
function decodeSecret(secret: KubernetesObject | undefined): CertificateState | undefined {
  const data = secret?.['data'];
  const caBundle = decode(data, 'ca.crt');
  const caKey = decode(data, 'ca.key');
  const certificate = decode(data, 'tls.crt');
  const privateKey = decode(data, 'tls.key');
  if (!caBundle || !caKey || !certificate || !privateKey) return undefined;
  return { caBundle, caKey, serving: { certificate, privateKey } };
}

/** The Secret that holds the state; `existing` keeps its metadata and its other keys. */
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
